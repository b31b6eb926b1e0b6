"""cookies"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def _word(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "cookies",
        sa.Column("run_id", _word(36), nullable=False),
        sa.Column("domain", _word(255), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("secure", sa.Integer(), nullable=False),
        sa.Column("host_only", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=True),
        sa.Column("set_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "domain", "path", "name"),
        sqlite_with_rowid=False,
    )
    # They travelled with a page from host to host; now they are the run's.
    op.drop_column("pages", "cookies")
    op.add_column("attempts", sa.Column("protocol", _word(8), nullable=True))
