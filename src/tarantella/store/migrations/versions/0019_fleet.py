"""fleet: what workers tell of themselves, and which of Celery's messages woke whom"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for column in (
        sa.Column("node", _word(255), nullable=True),
        sa.Column("has", sa.Text(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("lanes", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("memory", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("rate", sa.Double(), server_default=sa.text("0"), nullable=False),
        sa.Column("progress_at", sa.Double(), nullable=True),
    ):
        op.add_column("workers", column)
    op.create_table(
        "wakes",
        sa.Column("task_id", _word(64), nullable=False),
        sa.Column("worker_id", _word(36), nullable=False),
        sa.Column("run_id", _word(36), nullable=False),
        sa.Column("woken_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("task_id", "worker_id", "run_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("wakes_of_run", "wakes", ["run_id", "woken_at"])
    op.create_index("wakes_by_age", "wakes", ["woken_at"])


def _word(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")
