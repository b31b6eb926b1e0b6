"""ground"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _word(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "attempts",
        sa.Column("page_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("strategy", _word(16), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("elapsed_ms", sa.Integer(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("bytes", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("failure", _word(32), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("decision", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("page_id", "n"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "bodies",
        sa.Column("page_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("content_type", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("page_id"),
    )
    op.create_table(
        "lanes",
        sa.Column("name", _word(255), nullable=False),
        sa.Column("owner", _word(36), nullable=True),
        sa.Column("not_before", sa.Double(), server_default=sa.text("0"), nullable=False),
        sa.Column("breaker_state", _word(16), server_default=sa.text("'closed'"), nullable=False),
        sa.Column("breaker_failures", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("breaker_open_until", sa.Double(), server_default=sa.text("0"), nullable=False),
        sa.Column("breaker_failed_probes", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("unclean_deaths", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index("lanes_by_owner", "lanes", ["owner"], unique=False)
    op.create_table(
        "pages",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("run_id", _word(36), nullable=False),
        sa.Column("fingerprint", _word(32), nullable=False),
        sa.Column("lane", _word(255), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("state", _word(8), nullable=False),
        sa.Column("reason", _word(32), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("tries", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("charged", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("strategy", _word(16), nullable=False),
        sa.Column("next_at", sa.Double(), nullable=False),
        sa.Column("hops", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("is_start", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("cookies", sa.Text(), nullable=True),
        sa.Column("asked_url", sa.Text(), nullable=True),
        sa.Column("found_on", sa.BigInteger(), nullable=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("final_url", sa.Text(), nullable=True),
        sa.Column("final_fingerprint", _word(32), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "pages_in_trouble",
        "pages",
        ["run_id", "state", "id"],
        unique=False,
        sqlite_where=sa.text("state IN ('failed', 'skipped')"),
        postgresql_where=sa.text("state IN ('failed', 'skipped')"),
    )
    op.create_index("pages_once_per_run", "pages", ["run_id", "fingerprint"], unique=True)
    op.create_index(
        "pages_pending",
        "pages",
        ["lane", "run_id", "next_at"],
        unique=False,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_index(
        "pages_redirected",
        "pages",
        ["run_id", "final_fingerprint"],
        unique=False,
        sqlite_where=sa.text("final_fingerprint IS NOT NULL"),
        postgresql_where=sa.text("final_fingerprint IS NOT NULL"),
    )
    op.create_table(
        "records",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("run_id", _word(36), nullable=False),
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("records_of_run", "records", ["run_id", "id"], unique=False)
    op.create_index("records_once_per_page", "records", ["page_id", "ordinal"], unique=True)
    op.create_table(
        "run_events",
        sa.Column("run_id", _word(36), nullable=False),
        sa.Column("sequence", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", _word(36), nullable=False),
        sa.Column("level", _word(8), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("meta", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "sequence"),
    )
    op.create_table(
        "run_workers",
        sa.Column("run_id", _word(36), nullable=False),
        sa.Column("worker_id", _word(36), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "worker_id"),
    )
    op.create_table(
        "runs",
        sa.Column("id", _word(36), nullable=False),
        sa.Column("status", _word(16), nullable=False),
        sa.Column("wanted", _word(8), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("secrets", sa.Text(), nullable=True),
        sa.Column("roots", sa.Text(), nullable=False),
        sa.Column("keeper", _word(36), nullable=True),
        sa.Column("rank", sa.Double(), nullable=False),
        sa.Column("total", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("done", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("failed", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("skipped", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("pending", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("incomplete", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("surplus", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("records", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("requests", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("bytes", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("refused", sa.Text(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("last_event", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("failure_code", _word(32), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("paused_at", sa.Double(), nullable=True),
        sa.Column("deadline_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("runs_by_age", "runs", ["created_at", "id"], unique=False)
    op.create_index("runs_by_rank", "runs", ["status", "rank"], unique=False)
    op.create_table(
        "stands",
        sa.Column("run_id", _word(36), nullable=False),
        sa.Column("lane", _word(255), nullable=False),
        sa.Column("ready_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("run_id", "lane"),
    )
    op.create_index("stands_of_lane", "stands", ["lane", "run_id"], unique=False)
    op.create_index("stands_ready", "stands", ["ready_at"], unique=False)
    op.create_table(
        "workers",
        sa.Column("id", _word(36), nullable=False),
        sa.Column("serves", _word(36), nullable=True),
        sa.Column("host", _word(255), nullable=False),
        sa.Column("pid", sa.BigInteger(), nullable=False),
        sa.Column("version", _word(32), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("beat", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("beat_at", sa.Double(), nullable=False),
        sa.Column("hungry", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("dead_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
