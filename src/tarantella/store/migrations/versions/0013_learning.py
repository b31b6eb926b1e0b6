"""what sites teach about strategies, and what a run's strategies cost"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0009"
branch_labels = None
depends_on = None


def _word(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("runs", sa.Column("costs", sa.Text(), server_default=sa.text("'{}'"), nullable=False))
    op.add_column("sites", sa.Column("strategy", _word(16), nullable=True))
    op.add_column("sites", sa.Column("evidence", sa.Text(), server_default=sa.text("'{}'"), nullable=False))
    op.add_column("sites", sa.Column("learned", _word(16), nullable=True))
    op.add_column("sites", sa.Column("learned_at", sa.Double(), nullable=True))
