"""stands by run: what is ready is looked for from the running runs, and nobody asks by time any more"""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("stands_ready", "stands")
