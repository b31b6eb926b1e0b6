"""schedules: when jobs run by themselves"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("jobs") as jobs:
        jobs.alter_column("frequency", type_=_word(100), existing_type=_word(32), existing_nullable=False)
    op.create_table(
        "schedules",
        sa.Column("job_id", _word(36), nullable=False),
        sa.Column("next_at", sa.Double(), nullable=True),
        sa.Column("since", sa.Double(), nullable=False),
        sa.Column("paused", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("last_at", sa.Double(), nullable=True),
        sa.Column("last_came", _word(8), nullable=True),
        sa.Column("last_detail", sa.Text(), nullable=True),
        sa.Column("last_run_id", _word(36), nullable=True),
        sa.Column("runs", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("skipped", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("missed", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("refused", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("job_id"),
    )
    op.create_index("schedules_by_time", "schedules", ["next_at", "job_id"], unique=False)


def _word(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")
