"""gaps: what is missing, and what came of the scrapers that were to fetch it"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "gaps",
        sa.Column("id", _word(36), nullable=False),
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("fingerprint", _word(32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("scraper", sa.Text(), nullable=False),
        sa.Column("params", sa.Text(), nullable=False),
        sa.Column("estimated_minutes", sa.Double(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("scanned_at", sa.Text(), nullable=True),
        sa.Column("status", _word(20), nullable=False),
        sa.Column("failure", _word(20), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        *(_number(name) for name in ("tries", "retry_count", "deaths")),
        sa.Column("next_at", sa.Double(), nullable=False),
        sa.Column("owner", _word(36), nullable=True),
        sa.Column("host", sa.Text(), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("records", sa.BigInteger(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        *(sa.Column(name, sa.Text(), nullable=True) for name in ("stdout", "stderr")),
        *(sa.Column(name, sa.Double(), nullable=True) for name in ("started_at", "finished_at")),
        *(sa.Column(name, sa.Double(), nullable=False) for name in ("created_at", "updated_at")),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("gaps_by_fingerprint", "gaps", ["queue", "fingerprint"], unique=True)
    op.create_index("gaps_in_order", "gaps", ["queue", "status", "priority", "position"], unique=False)
    where = sa.text("status = 'running'")
    op.create_index("gaps_under_way", "gaps", ["scraper"], unique=False, sqlite_where=where, postgresql_where=where)


def _word(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), server_default=sa.text("0"), nullable=False)
