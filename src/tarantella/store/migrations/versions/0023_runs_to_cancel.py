"""runs to cancel: the few that are wanted cancelled are found without looking at all that are queued"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    only = sa.text("wanted = 'cancel'")
    op.create_index("runs_to_cancel", "runs", ["status"], unique=False, sqlite_where=only, postgresql_where=only)
