"""retries: how far the failed pages of a run have been taken back"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("retries_below", sa.BigInteger(), nullable=True))
    there_are = sa.text("retries_below IS NOT NULL")
    op.create_index("runs_retried", "runs", ["id"], unique=False, sqlite_where=there_are, postgresql_where=there_are)
