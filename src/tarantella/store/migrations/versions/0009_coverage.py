"""coverage: how many records of a run lack a field"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("lacking", sa.Text(), server_default=sa.text("'{}'"), nullable=False))
