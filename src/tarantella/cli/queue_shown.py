"""A queue of gaps, as a terminal shows it: what happens, what came of it, what would be done."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tarantella.cli import words
from tarantella.cli.shown import show_lines, show_table
from tarantella.cli.terminal import Terminal
from tarantella.domain.gap import Problem
from tarantella.domain.run import Priority
from tarantella.domain.script_end import POLICY, Ended, ScriptFailure
from tarantella.services.filling import Filled, Look, Summary, Watcher
from tarantella.services.gaps_file import USUAL
from tarantella.services.queue import GapStatus, Plan, StoredGap, TakenIn
from tarantella.services.reconciliation import Reconciled

LINE_EVERY = 10.0
COLUMNS = {
    "gap": "name",
    "priority": "priority",
    "status": "status",
    "scraper": "scraper",
    "tried": "tries",
    "took": "took",
    "why": "why",
}
STOPPING = "Stopping: scripts that are running may finish. Ctrl-C again ends them."


class Watching(Watcher):
    """Says on stderr what begins and what ends, and now and then how far it is."""

    def __init__(self, terminal: Terminal, at_once: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._terminal = terminal
        self._at_once = at_once
        self._clock = clock
        self._next = clock() + LINE_EVERY

    def taken_in(self, plan: Plan, taken: TakenIn) -> None:
        told = [f"{words.nearby(plan.file)}: {words.count(len(plan.read.gaps), 'gap')}"]
        for number, what in ((taken.new, "new"), (taken.again, "still there"), (taken.gone, "gone")):
            if number:
                told.append(f"{number} {what}")
        self._terminal.say(", ".join(told) + f"; {self._at_once} at a time.")
        for problem in plan.read.problems:
            self._terminal.say(_left_out(problem))
        for name in taken.doubled:
            self._terminal.say(words.clean(f"Left out: {name} says the same as one before it."))
        for warning in plan.scrapers.warnings:
            self._terminal.say(words.clean(warning))

    def began(self, gap: StoredGap, command: list[str]) -> None:
        does = words.clean(shlex.join(command))[:300]
        self._terminal.say(f"{words.clean(gap.name)} {gap.priority.name} {words.clean(gap.source)}: {does}")

    def filled(self, filled: Filled) -> None:
        gap, ended = filled.gap, filled.ended
        took = words.duration(ended.seconds)
        if filled.status is GapStatus.COMPLETED:
            told = f"completed in {took}{', ' + words.count(ended.records, 'record') if ended.records else ''}"
        elif filled.status is GapStatus.PENDING:
            told = f"is tried again: {_why(ended)}"
        else:
            told = f"failed: {_why(ended)}"
        self._terminal.say(f"{words.clean(gap.name)} {told}")

    def looked(self, look: Look) -> None:
        if (now := self._clock()) < self._next:
            return
        self._next = now + LINE_EVERY
        ahead = f", about {words.duration(look.eta_seconds)}" if look.eta_seconds is not None else ""
        waits = f", next in {words.duration(look.next_in)}" if not look.running and look.next_in else ""
        self._terminal.say(f"{look.running} running, {look.left} left{ahead}{waits}")

    def stopping(self) -> None:
        self._terminal.say(STOPPING)


def _left_out(problem: Problem) -> str:
    return words.clean(f"Left out: {problem.place} ({problem.id or 'no id'}): {problem.told}")


def _why(ended: Ended) -> str:
    return words.clean(": ".join(each for each in (ended.failure, ended.detail) if each))


# -- what came of it


def show_summary(
    terminal: Terminal, plan: Plan, summary: Summary, reconciled: Reconciled | None, *, as_json: bool
) -> None:
    if as_json:
        again = {"missing": reconciled.missing, "problems": reconciled.problems} if reconciled is not None else None
        terminal.show_json({**summary.to_json(plan), "reconciliation": again})
        return
    last = summary.last
    terminal.show(f"Total tasks: {len(last) + summary.left}")
    for status, name in ((GapStatus.COMPLETED, "Completed"), (GapStatus.FAILED, "Failed")):
        number = summary.count(status)
        terminal.show(f"{name}: {number} ({_percent(number, len(last) + summary.left)})")
    if summary.left:
        terminal.show(f"Left: {summary.left}")
    terminal.show(f"Duration: {summary.seconds:.1f}s ({summary.seconds / 60:.1f} minutes)")
    for title, parts in (("By priority", summary.by_priority()), ("By scraper", summary.by_scraper())):
        if parts:
            terminal.show(f"\n{title}:")
        for name, counts in parts.items():
            terminal.show(f"  {words.clean(name)}: {counts['completed']} completed, {counts['failed']} failed")
    if reconciled is not None:
        terminal.show(f"\nLooked again: {words.count(reconciled.missing, 'gap')} in {words.nearby(USUAL)}.")
        for problem in reconciled.problems:
            terminal.say(f"Not everything could be looked at, so the file stays as it was: {words.clean(problem)}")
    if summary.count(GapStatus.FAILED):
        terminal.say("\n`tarantella queue list --status failed` tells why; `queue retry` takes them back.")
    if summary.elsewhere:
        terminal.say(f"\nSomebody else is at {words.count(summary.elsewhere, 'more gap')}.")
    elif not last and not summary.left:
        terminal.say("Nothing is to be done: all of it is completed or given up. `queue list` has it.")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "–"


# -- what would be done


def show_plan(terminal: Terminal, plan: Plan, priority: Priority | None, *, as_json: bool) -> None:
    """What a run would do, without looking at what was done before."""
    told = plan.to_json(priority)
    if as_json:
        terminal.show_json(told)
        return
    terminal.show(f"Loaded {words.count(told['total'], 'task')} of {words.nearby(plan.file)}")
    for name, number in told["by_priority"].items():
        terminal.show(f"  {name.capitalize()}: {number}")
    for problem in plan.read.problems:
        terminal.say(_left_out(problem))
    for task in told["tasks"]:
        does = shlex.join(task["command"]) if task["command"] else f"would fail: {task['failure']}: {task['detail']}"
        terminal.show(f"{words.clean(task['id'])} {task['priority']}: {words.clean(does)}")
    terminal.show(f"Skipped: {told['skipped']}: nothing was started.")


# -- what there is


def told(gap: StoredGap) -> dict[str, Any]:
    """A gap in JSON."""
    times = ("next_at", "started_at", "finished_at", "created_at", "updated_at")
    values = {name: getattr(gap, name) for name in gap.__struct_fields__ if name not in ("queue", "owner", "tries")}
    values |= {name: words.iso(values[name] or None) for name in times}
    policy = POLICY[gap.failure] if gap.failure is not None else None
    return {
        **values,
        "priority": gap.priority.name,
        "executions": gap.tries,
        "policy": {"retry": policy.retry, "words": policy.words} if policy is not None else None,
    }


def show_gaps(terminal: Terminal, found: Sequence[StoredGap], nothing: str) -> None:
    rows = [
        {
            **told(gap),
            "tries": gap.tries,
            "took": words.duration(gap.seconds) if gap.seconds is not None else "",
            "why": ": ".join(each for each in (gap.failure, gap.detail) if each),
        }
        for gap in found
    ]
    show_table(terminal, rows, COLUMNS, nothing)


def show_gap(terminal: Terminal, gap: StoredGap, stdout: str, stderr: str) -> None:
    show_lines(terminal, {name: value for name, value in told(gap).items() if value not in (None, {}, "")})
    for name, text in (("stdout", stdout), ("stderr", stderr)):
        if text.strip():
            terminal.show(f"\n{name}, its end:")
            terminal.show("\n".join(f"  {words.clean(line)}" for line in text.rstrip().splitlines()))


def show_failures(terminal: Terminal, counts: Mapping[ScriptFailure, int], *, as_json: bool) -> None:
    rows = [
        {"failure": str(code), "given_up": counts[code], "retried": policy.retry, "meaning": policy.words}
        for code, policy in POLICY.items()
    ]
    if as_json:
        terminal.show_json(rows)
        return
    shown = [{**row, "retried": "yes" if row["retried"] else "no"} for row in rows]
    columns = {"failure": "failure", "given up": "given_up", "retried": "retried", "when": "meaning"}
    show_table(terminal, shown, columns, "")
