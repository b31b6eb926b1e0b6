"""workflows: their states, their steps, their history, and templates that they are made from"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "workflow_templates",
        sa.Column("name", _word(100), nullable=False),
        _number("version", sa.Integer(), "1"),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "workflow_states",
        sa.Column("id", _word(36), nullable=False),
        sa.Column("job_id", _word(36), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("template", _word(100), nullable=True),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("status", _word(20), nullable=False),
        _number("current_step", sa.Integer(), "0"),
        sa.Column("total_steps", sa.Integer(), nullable=False),
        _number("progress", sa.Integer(), "0"),
        sa.Column("metadata", sa.Text(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        _number("is_local", sa.Integer(), "0"),
        sa.Column("keeper", _word(36), nullable=True),
        _number("recovery_attempts", sa.Integer(), "0"),
        _number("max_recovery_attempts", sa.Integer(), "3"),
        _number("last_event", sa.BigInteger(), "0"),
        *(sa.Column(name, sa.Double(), nullable=True) for name in ("started_at", "completed_at", "last_checkpoint")),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("workflow_states_by_age", "workflow_states", ["created_at", "id"], unique=False)
    op.create_index("workflow_states_by_status", "workflow_states", ["status", "created_at", "id"], unique=False)
    _index_where("workflow_states_of_job", "workflow_states", ["job_id", "created_at", "id"], "job_id IS NOT NULL")
    _index_where("workflow_states_by_keeper", "workflow_states", ["keeper"], "keeper IS NOT NULL")
    op.create_table(
        "workflow_tasks",
        sa.Column("id", _word(36), nullable=False),
        sa.Column("workflow_id", _word(36), nullable=False),
        sa.Column("task_name", _word(100), nullable=False),
        sa.Column("task_type", _word(50), nullable=False),
        sa.Column("status", _word(20), nullable=False),
        sa.Column("step_index", sa.Integer(), nullable=False),
        sa.Column("kind", _word(8), nullable=False),
        sa.Column("celery_task_id", _word(255), nullable=True),
        _number("retry_count", sa.Integer(), "0"),
        _number("max_retries", sa.Integer(), "3"),
        sa.Column("dependencies", sa.Text(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("result", sa.Text(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("next_at", sa.Double(), nullable=True),
        sa.Column("owner", _word(36), nullable=True),
        _number("tries", sa.Integer(), "0"),
        _number("deaths", sa.Integer(), "0"),
        sa.Column("run_id", _word(36), nullable=True),
        *(
            sa.Column(name, sa.Double(), nullable=True)
            for name in ("deadline_at", "started_at", "completed_at", "estimated_duration", "actual_duration")
        ),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("workflow_tasks_in_order", "workflow_tasks", ["workflow_id", "step_index"], unique=True)
    op.create_index("workflow_tasks_by_status", "workflow_tasks", ["workflow_id", "status"], unique=False)
    op.create_index(
        "workflow_tasks_by_type", "workflow_tasks", ["task_type", "status", "actual_duration"], unique=False
    )
    _index_where("workflow_tasks_by_celery_id", "workflow_tasks", ["celery_task_id"], "celery_task_id IS NOT NULL")
    under_way = "status IN ('queued', 'retrying', 'running')"
    _index_where("workflow_tasks_under_way", "workflow_tasks", ["status", "next_at"], under_way)
    _index_where("workflow_tasks_by_run", "workflow_tasks", ["run_id"], "run_id IS NOT NULL")
    op.create_table(
        "workflow_events",
        sa.Column("workflow_id", _word(36), nullable=False),
        sa.Column("sequence", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("level", _word(8), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("meta", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("workflow_id", "sequence"),
    )


def _word(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def _number(name: str, kind: sa.Integer | sa.BigInteger, default: str) -> sa.Column[int]:
    return sa.Column(name, kind, server_default=sa.text(default), nullable=False)


def _index_where(name: str, table: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, table, columns, unique=False, sqlite_where=where, postgresql_where=where)
