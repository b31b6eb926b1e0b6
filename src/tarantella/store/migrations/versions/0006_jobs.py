"""jobs, where runs come from, and keys that make a submit the same submit"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def _word(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    _add_columns()
    _add_jobs()
    op.create_table(
        "idempotency_keys",
        sa.Column("key", _word(255), nullable=False),
        sa.Column("digest", _word(64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("idempotency_keys_by_age", "idempotency_keys", ["created_at"])


def _add_columns() -> None:
    for column in (
        sa.Column("job_id", _word(36)),
        sa.Column("source", _word(16), server_default=sa.text("'cli'"), nullable=False),
        sa.Column("snapshot", sa.Text()),
        sa.Column("requested_strategy", _word(16)),
        sa.Column("resolved_strategy", _word(16)),
        sa.Column("attempt", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("max_attempts", sa.Integer()),
        sa.Column("stats", sa.Text(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("export_format", _word(8)),
    ):
        op.add_column("runs", column)
    only = sa.text("job_id IS NOT NULL")
    op.create_index("runs_by_source", "runs", ["source", "created_at", "id"])
    op.create_index("runs_by_source_and_status", "runs", ["source", "status", "created_at", "id"])
    op.create_index("runs_of_job", "runs", ["job_id", "created_at", "id"], sqlite_where=only, postgresql_where=only)


def _add_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", _word(36), nullable=False),
        sa.Column("version", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("name", sa.Text()),
        sa.Column("target_url", sa.Text(), nullable=False),
        sa.Column("fields", sa.Text(), nullable=False),
        sa.Column("requires_auth", sa.Integer(), nullable=False),
        sa.Column("frequency", _word(32), nullable=False),
        sa.Column("strategy", _word(16), nullable=False),
        sa.Column("status", _word(16), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("secrets", sa.Text()),
        sa.Column("warnings", sa.Text(), nullable=False),
        sa.Column("keep_seconds", sa.Double()),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("jobs_by_age", "jobs", ["created_at", "id"])
