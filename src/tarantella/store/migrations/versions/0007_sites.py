"""sites: what a host may be asked and what it has shown; workers tell how they get on"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("work", "progress", "in_flight"):
        op.add_column("workers", _count(name))
    op.add_column("workers", sa.Column("patience", sa.Double(), server_default=sa.text("0"), nullable=False))
    op.add_column("lanes", sa.Column("breaker_resets", sa.Integer(), server_default=sa.text("0"), nullable=False))
    op.create_table(
        "counters",
        sa.Column("name", _word(255), nullable=False),
        _count("value"),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "sites",
        sa.Column("host", _word(255), nullable=False),
        sa.Column("per_host", sa.Integer(), nullable=True),
        sa.Column("delay", sa.Double(), nullable=True),
        sa.Column("max_rate", sa.Double(), nullable=True),
        sa.Column("obey_robots", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("paused", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("policy_at", sa.Double(), nullable=True),
        _count("requests"),
        _count("failures"),
        sa.Column("codes", sa.Text(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("recent_requests", sa.Double(), server_default=sa.text("0"), nullable=False),
        sa.Column("recent_failures", sa.Double(), server_default=sa.text("0"), nullable=False),
        sa.Column("usual_ms", sa.Double(), nullable=True),
        sa.Column("slots", sa.Double(), nullable=True),
        sa.Column("slots_limit", sa.Integer(), nullable=True),
        sa.Column("keeps_delay", sa.Double(), nullable=True),
        sa.Column("last_ok_at", sa.Double(), nullable=True),
        sa.Column("last_failed_at", sa.Double(), nullable=True),
        sa.Column("seen_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("host"),
    )
    _create_index_where("runs_finished", "runs", ["source", "finished_at"], "finished_at IS NOT NULL")
    _create_index_where("sites_paused", "sites", ["host"], "paused = 1")


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def _word(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def _create_index_where(name: str, table: str, columns: list[str], condition: str) -> None:
    only = sa.text(condition)
    op.create_index(name, table, columns, unique=False, sqlite_where=only, postgresql_where=only)
