"""lists: what a page of a list needs is in an index, and a run knows how much it stored"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("stored", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    op.execute(
        "UPDATE runs SET stored = (SELECT coalesce(sum(length(data)), 0) FROM records WHERE run_id = runs.id) + "
        "(SELECT coalesce(sum(length(body)), 0) FROM bodies JOIN pages ON pages.id = page_id WHERE run_id = runs.id)"
    )
    op.create_index("pages_of_run", "pages", ["run_id", "id"], unique=False)
    op.create_index("runs_by_status_and_age", "runs", ["status", "created_at", "id"], unique=False)
    _create_index_where("runs_by_keeper", "runs", ["keeper"], "keeper IS NOT NULL")
    _create_index_where("runs_unseen", "runs", ["reason"], "reason IN ('submitting', 'deleting')")
    _create_index_where("workers_alive", "workers", ["id"], "dead_at IS NULL")
    trouble = "level IN ('warn', 'error')"
    _create_index_where("run_events_of_trouble", "run_events", ["run_id", "level", "sequence"], trouble)


def _create_index_where(name: str, table: str, columns: list[str], condition: str) -> None:
    only = sa.text(condition)
    op.create_index(name, table, columns, unique=False, sqlite_where=only, postgresql_where=only)
