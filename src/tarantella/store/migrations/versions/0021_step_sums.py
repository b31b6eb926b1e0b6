"""step sums: how many steps of workflows have ended, and how long they took, whatever becomes of the workflows"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "workflow_step_sums",
        sa.Column("task_type", _word(50), nullable=False),
        sa.Column("status", _word(20), nullable=False),
        sa.Column("steps", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("task_type", "status"),
    )
    op.drop_index("workflow_tasks_by_type", "workflow_tasks")


def _word(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")
