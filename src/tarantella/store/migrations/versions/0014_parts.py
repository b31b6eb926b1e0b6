"""parts: a busy host as several lanes"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    word = sa.String(255).with_variant(sa.String(255, collation="C"), "postgresql")
    op.add_column("lanes", sa.Column("host", word, nullable=True))
    op.add_column("sites", sa.Column("parts", sa.Integer(), nullable=True))
    some = sa.text("parts > 1")
    op.create_index("sites_in_parts", "sites", ["host"], sqlite_where=some, postgresql_where=some)
