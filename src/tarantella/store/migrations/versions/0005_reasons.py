"""reasons: pages that have one are found by it"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    only = sa.text("reason IS NOT NULL")
    columns = ["run_id", "reason", "id"]
    op.create_index("pages_by_reason", "pages", columns, unique=False, sqlite_where=only, postgresql_where=only)
