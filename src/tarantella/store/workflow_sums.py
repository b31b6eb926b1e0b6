"""How many steps of workflows have ended, and how long they took: numbers that only grow, whatever becomes of the workflows."""

from __future__ import annotations

from tarantella.domain.workflow import StepStatus
from tarantella.store.tx import Tx

MOST_TYPES = 50  # people may call their steps whatever they like; what makes a label must stay few
OTHER_TYPES = "others"


def add(tx: Tx, task_type: str, status: StepStatus, seconds: float) -> None:
    """Count the end of a step. A type that comes when there are many belongs to the others for good."""
    label = "".join(letter if letter.isprintable() else " " for letter in task_type)
    known = {row.task_type for row in tx.all("SELECT DISTINCT task_type FROM workflow_step_sums")}
    has_room = label in known or len(known - {OTHER_TYPES}) < MOST_TYPES
    tx.execute(
        "INSERT INTO workflow_step_sums (task_type, status, steps, seconds) VALUES (:type, :status, 1, :seconds) "
        "ON CONFLICT (task_type, status) DO UPDATE SET "
        "steps = workflow_step_sums.steps + 1, seconds = workflow_step_sums.seconds + excluded.seconds",
        type=label if has_room else OTHER_TYPES,
        status=str(status),
        seconds=seconds,
    )


def totals(tx: Tx) -> list[tuple[str, str, int, float]]:
    """For each type of steps and each end: how many there were, and how many seconds they took."""
    rows = tx.all("SELECT task_type, status, steps, seconds FROM workflow_step_sums ORDER BY task_type, status")
    return [(row.task_type, row.status, row.steps, row.seconds) for row in rows]
