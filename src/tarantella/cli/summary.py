"""What a run came to: numbers that add up, what went wrong and why, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tarantella.cli import words
from tarantella.cli.plain import wrapped
from tarantella.cli.reasons import refused_line, trap_lines
from tarantella.cli.styled import Styled
from tarantella.domain.page import UNTRIED_SKIPS, Skip
from tarantella.domain.reasons import in_words
from tarantella.domain.struct import Frozen

if TYPE_CHECKING:
    from tarantella.services.export import Exported
    from tarantella.services.runs import Run

INDENT = "  "
MOST_TRAPS = 5
STYLES: Mapping[str, str] = {"completed": "bold green", "partial": "bold yellow", "failed": "bold red"}
ALL_CLOSED = "robots.txt closes all of it to crawlers. On a site of your own, add:\n  --ignore-robots"
ALL_DENIED = "Private networks are closed until you open them. To fetch from this one, add:"


class Summary(Frozen):
    """A run after a command has worked on it."""

    run: Run
    elapsed: float
    tried: int  # pages that this command asked for and brought to their end
    troubles: Sequence[Mapping[str, Any]] = ()
    exported: Exported | None = None
    export_error: str | None = None
    suffix: str = ""  # what the next commands need to find the same data
    target: tuple[str, ...] = ()  # what a command that goes on needs to write to the same file
    width: int = 80
    ellipsis: str = "…"
    resumable: bool = True
    missing: Mapping[str, Any] | None = None  # a strategy that pages would have needed

    @property
    def interrupted(self) -> bool:
        return not self.run.is_over

    def command(self, words_: str, *rest: str) -> str:
        return " ".join([words.program(), words_, words.short_id(self.run.id), *rest]) + self.suffix


def summary_lines(summary: Summary) -> Iterator[Styled]:
    """The summary line by line."""
    yield _verdict(summary)
    yield from (Styled(INDENT + line) for line in _numbers(summary))
    if summary.troubles:
        yield Styled()
        yield from _troubles(summary)
    yield from (Styled(INDENT + line) for line in coverage_lines(summary.run))
    if (line := refused_line(summary.run.refused)) is not None:
        yield Styled((INDENT + line, "dim"))
    traps = trap_lines(summary.run.traps)
    yield from (Styled((INDENT + line, "yellow")) for line in traps[:MOST_TRAPS])
    if len(traps) > MOST_TRAPS:
        yield Styled(f"{INDENT}and {words.count(len(traps) - MOST_TRAPS, 'trap')} more, which `runs show` lists")
    yield from (Styled((f"\n{note}", "yellow")) for note in _hints(summary))
    yield Styled()
    yield from _records(summary)
    yield Styled("Next:")
    yield from (Styled((INDENT + command, "cyan")) for command in next_commands(summary))


def _verdict(summary: Summary) -> Styled:
    run = summary.run
    if run.is_over:
        verb = "is" if run.status == "partial" else "has"
        told = {"failed": "failed", "cancelled": "been cancelled"}.get(run.status, run.status.value)
        why = ""
    else:
        verb, told = "is", run.status.value
        why = f" ({words.clean(run.reason)})" if run.reason else ""
    return Styled(
        "Run ",
        (words.short_id(run.id), "bold"),
        f" {verb} ",
        (told, STYLES.get(run.status, "bold yellow" if not run.is_over else "bold")),
        f"{why}: {words.count(run.counts.done)} of {words.count(run.counts.total, 'page')} done",
    )


def _numbers(summary: Summary) -> Iterator[str]:
    yield f"pages     {words.sum_of(summary.run.counts)}"
    speed = summary.tried / summary.elapsed if summary.elapsed > 0 else 0.0
    yield f"time      {words.duration(summary.elapsed)}, {words.rate(speed)}"
    yield f"requests  {words.cost(summary.run.cost)}"


def tried(run: Run, troubles: Sequence[Mapping[str, Any]]) -> int:
    """How many pages of a run were asked for and have ended; those that were only put aside were not."""
    counts = run.counts
    untried: int = sum(
        each["count"] for each in troubles if each["state"] == "skipped" and each["reason"] in UNTRIED_SKIPS
    )
    return counts.total - counts.pending - untried


def _troubles(summary: Summary) -> Iterator[Styled]:
    """What failed or was skipped: how many, why, and one of them."""
    wide = max(len(words.count(trouble["count"])) for trouble in summary.troubles)
    margin = len(INDENT) + 9 + wide + 2
    room = max(20, summary.width - margin)
    for trouble in summary.troubles:
        failed = trouble["state"] == "failed"
        yield Styled(
            INDENT,
            (f"{trouble['state']:<9}", "red" if failed else "yellow"),
            f"{words.count(trouble['count']):>{wide}}  ",
            f"{in_words(trouble['reason'])} ",
            (f"({trouble['reason']})", "dim"),
        )
        example = words.shortened(words.clean(trouble["example"] or ""), room, summary.ellipsis)
        yield Styled((" " * margin + example, "dim"))
        if failed and trouble["detail"]:
            for line in wrapped(words.clean(trouble["detail"]), room):
                yield Styled((" " * margin + line, "dim"))


def coverage_lines(run: Run) -> Iterator[str]:
    """How many records have each field, where some don't."""
    for each in run.coverage:
        if each.found < each.records:
            why = [f"{words.count(each.missing)} without it"] if each.missing else []
            why += [f"{words.count(each.unfit)} with something else"] if each.unfit else []
            needed = " (required)" if each.required else ""
            yield f"field     {each.name}{needed}: {each.share:.0%} of records; {', '.join(why)}"


def _hints(summary: Summary) -> Iterator[str]:
    if (option := allow_network(summary.troubles, summary.run.counts.done)) is not None:
        yield f"{ALL_DENIED}\n{INDENT}{option}"
    if {trouble["reason"] for trouble in summary.troubles} == {Skip.ROBOTS} and not summary.run.counts.done:
        yield ALL_CLOSED
    if summary.missing is not None:
        yield "\n".join(_missing(summary, summary.missing))
    if summary.interrupted and summary.resumable:
        yield "Everything so far is kept; the first of the commands below goes on."
    elif summary.interrupted:
        yield "Everything so far is kept, but the site has ended with this command: it can't go on."


def _missing(summary: Summary, said: Mapping[str, Any]) -> Iterator[str]:
    """What would have been needed for some pages, an example of them, and what to do."""
    why = in_words(said["reason"]) if "reason" in said else words.clean(said["why"])
    yield f"A {said['wanted']} would get further: {why}."
    if "url" in said:
        yield INDENT + words.shortened(words.clean(said["url"]), summary.width - len(INDENT), summary.ellipsis)
    yield INDENT + said["remedy"]


def allow_network(troubles: Sequence[Mapping[str, Any]], done: int) -> str | None:
    """The option that would open the network, when every page was denied for the want of it."""
    failed = [trouble for trouble in troubles if trouble["state"] == "failed"]
    if done or not failed or any(trouble["reason"] != "denied" for trouble in failed):
        return None
    _, mark, rest = (failed[0]["detail"] or "").partition("--allow-network ")
    return f"--allow-network {rest.split()[0]}" if mark and rest.split() else None


def _records(summary: Summary) -> Iterator[Styled]:
    exported = summary.exported
    if exported is None:
        return
    told = words.count(exported.records, "record")
    if summary.interrupted:
        told += " so far (incomplete)"
    where = "stdout" if exported.path is None else words.nearby(exported.path)
    yield Styled(f"{told}:")
    # On a line of its own: a path that is broken can't be copied.
    yield Styled(INDENT, (where, "bold"))


def next_commands(summary: Summary) -> list[str]:
    """Three commands that make sense now."""
    run = summary.run
    commands = [summary.command("runs show")]
    if summary.interrupted:
        go_on = [summary.command("runs resume", *summary.target)] if summary.resumable else []
        return [*go_on, *commands, summary.command("runs cancel")]
    if run.counts.failed or run.counts.incomplete:
        # An address with something blotted out would not be found.
        examples = [trouble["example"] for trouble in summary.troubles if trouble["example"]]
        if example := next((url for url in examples if url == words.clean(url)), None):
            commands.append(summary.command("runs explain", shlex.quote(example)))
        if summary.resumable and allow_network(summary.troubles, run.counts.done) is None:
            commands.append(summary.command("runs retry-failed", *summary.target))
    for more in (
        *([summary.command("export", "--format csv")] if run.records else ()),
        summary.command("runs pages"),
        summary.command("runs events"),
    ):
        if len(commands) < 3:
            commands.append(more)
    return commands


def summary_json(summary: Summary, exit_code: int) -> dict[str, Any]:
    """The same for machines."""
    from tarantella.cli.views import run_json

    return {
        **run_json(summary.run),
        "elapsed_seconds": round(summary.elapsed, 3),
        "output": str(summary.exported.path) if summary.exported and summary.exported.path else None,
        "format": summary.exported.format if summary.exported else None,
        "failures": reasons_json(summary.troubles, "failed"),
        "skips": reasons_json(summary.troubles, "skipped"),
        "exit_code": exit_code,
    }


def reasons_json(troubles: Sequence[Mapping[str, Any]], state: str) -> dict[str, int]:
    return {trouble["reason"] or "unknown": trouble["count"] for trouble in troubles if trouble["state"] == state}
