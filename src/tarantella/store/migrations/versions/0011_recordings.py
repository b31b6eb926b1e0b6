"""recordings: questions that pages asked for their data, to be asked again without a browser"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "recordings",
        sa.Column("id", _word(36), nullable=False),
        sa.Column("job_id", _word(36), nullable=False),
        sa.Column("run_id", _word(36), nullable=True),
        sa.Column("host", _word(255), nullable=False),
        sa.Column("purpose", _word(32), nullable=False),
        sa.Column("made_by", _word(16), nullable=False),
        sa.Column("template", sa.Text(), nullable=False),
        sa.Column("secrets", sa.Text(), nullable=True),
        sa.Column("reading", sa.Text(), nullable=False),
        sa.Column("shape", _word(16), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("uses", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("worked_at", sa.Double(), nullable=True),
        sa.Column("failed_at", sa.Double(), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("recordings_of_job", "recordings", ["job_id", "created_at", "id"], unique=False)
    op.create_index("recordings_by_age", "recordings", ["created_at", "id"], unique=False)


def _word(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")
