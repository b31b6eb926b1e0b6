"""sitemaps and traps"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    word = sa.String(16).with_variant(sa.String(16, collation="C"), "postgresql")
    op.add_column("pages", sa.Column("kind", word, server_default=sa.text("'page'"), nullable=False))
    op.add_column("runs", sa.Column("sitemaps", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    op.add_column("runs", sa.Column("traps", sa.Text(), server_default=sa.text("'[]'"), nullable=False))
