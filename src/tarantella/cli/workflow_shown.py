"""A workflow as people see it: its facts, and its steps as a table in which they hang below what they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tarantella.cli import words
from tarantella.cli.shown import show_lines, show_table
from tarantella.cli.terminal import Terminal

COLUMNS = {
    "step": "step",
    "status": "status",
    "tries": "tries",
    "took": "took",
    "expected": "expected",
    "needs": "needs",
    "does": "does",
}
PLAN_COLUMNS = {"step": "step", "needs": "needs", "does": "does", "retries": "max_retries", "expected": "expected"}
LONGEST_NAME = 40


def show_workflow(terminal: Terminal, found: Mapping[str, Any]) -> None:
    """All about one workflow."""
    steps = found["steps"]
    show_lines(terminal, {name: value for name, value in _facts(found).items() if value is not None})
    terminal.show()
    show_table(terminal, [_row(steps, *place) for place in hung(steps)], COLUMNS, "It has no steps.")
    for step in steps:
        if step["error_message"] and step["status"] in ("failed", "retrying"):
            terminal.show(f"{step['step_index']} {words.clean(step['name'])}: {words.clean(step['error_message'])}")


def show_plan(terminal: Terminal, found: Mapping[str, Any]) -> None:
    """A workflow that there is not yet."""
    steps = [{**step, "step_index": number} for number, step in enumerate(found["steps"])]
    show_table(terminal, [_planned(steps, *place) for place in hung(steps)], PLAN_COLUMNS, "It has no steps.")
    at_once = max(map(len, found["order"]))
    terminal.say(
        f"{words.clean(found['name'])}: {words.count(len(steps), 'step')} in {words.count(len(found['order']), 'stage')}, "
        f"{at_once} at a time at most."
    )


def show_briefly(terminal: Terminal, found: Mapping[str, Any]) -> None:
    """What became of a workflow that was steered."""
    short = words.short_id(found["id"])
    waits = f" and waits for {found['waits_for']}" if found["waits_for"] else ""
    if found["status"] == "pending" and not found["is_local"]:
        waits = f": `tarantella workflows start {short}` starts it"
    terminal.say(words.clean(f"Workflow {short} ({found['name']}) is {found['status']}{waits}."))


def hung(steps: Sequence[Mapping[str, Any]]) -> list[tuple[int, str]]:
    """The steps as the branches of a tree: each once, below the last of those that it needs, behind a line that leads to it."""
    below: dict[int | None, list[int]] = {}
    for number, step in enumerate(steps):
        below.setdefault(max(step["dependencies"], default=None), []).append(number)
    drawn: list[tuple[int, str]] = []
    # Without recursion: a hundred steps may hang one below the other.
    waiting = [(number, "", "") for number in reversed(below.get(None, []))]
    while waiting:
        number, line, indent = waiting.pop()
        drawn.append((number, line))
        branches = below.get(number, [])
        for other in reversed(branches):
            is_last = other == branches[-1]
            waiting.append((other, f"{indent}{'`- ' if is_last else '|- '}", f"{indent}{'   ' if is_last else '|  '}"))
    return drawn


def _facts(found: Mapping[str, Any]) -> dict[str, Any]:
    done = sum(step["status"] == "completed" for step in found["steps"])
    version = f"{found['template']}, version {found['template_version']}" if found["template"] else None
    recovered = found["recovery_attempts"]
    return {
        "workflow": found["id"],
        "name": found["name"],
        "status": found["status"],
        "progress": f"{found['progress']} %, {done} of {words.count(found['total_steps'], 'step')} completed",
        "waits for": found["waits_for"],
        "error": found["error_message"],
        "reason": found["reason"],
        "recovered": f"{recovered} of {found['max_recovery_attempts']} times" if recovered else None,
        "job": found["job_id"],
        "template": version,
        "metadata": found["metadata"] or None,
        "created": _when(found["created_at"]),
        "started": _when(found["started_at"]),
        "ended": _when(found["completed_at"]),
    }


def _row(steps: Sequence[Mapping[str, Any]], number: int, line: str) -> dict[str, Any]:
    step = steps[number]
    begun = step["started_at"] is not None
    return {
        **_planned(steps, number, line),
        "status": step["status"],
        "tries": f"{step['retry_count'] + 1} of {step['max_retries'] + 1}" if begun else None,
        "took": words.duration(step["actual_duration"]) if step["actual_duration"] is not None else None,
    }


def _planned(steps: Sequence[Mapping[str, Any]], number: int, line: str) -> dict[str, Any]:
    step = steps[number]
    expected = step["estimated_duration"]
    name = words.shortened(words.clean(step["name"]), LONGEST_NAME)
    # The number comes first, so that those of one length begin in one place and the branches can be seen.
    digits = len(str(len(steps) - 1))
    return {
        "step": f"{number:<{digits}} {line}{name}",
        "needs": ", ".join(map(str, step["dependencies"])) or None,
        "does": f"job {words.short_id(step['job'])}" if step["job"] else step["handler"],
        "max_retries": step["max_retries"],
        "expected": words.duration(expected) if expected is not None else None,
    }


def _when(moment: str | None) -> str | None:
    return words.when(datetime.fromisoformat(moment).timestamp()) if moment is not None else None
