"""needs: what a worker must have to work on a lane"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    word = sa.String(16).with_variant(sa.String(16, collation="C"), "postgresql")
    op.add_column("lanes", sa.Column("needs", word, nullable=True))
