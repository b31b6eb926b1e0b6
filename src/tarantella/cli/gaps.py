"""`tarantella gaps`: what should be there and is not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tarantella.cli import exits
from tarantella.cli.command import Command, Group
from tarantella.cli.options import OUTPUT, AsJson

if TYPE_CHECKING:
    from tarantella.cli.terminal import Terminal
    from tarantella.domain.expectation import Coverage
    from tarantella.domain.gap import Gap
    from tarantella.services.gaps import Scan

EXAMPLES = """
Examples:
  tarantella gaps coverage                 how much there is of what should be
  tarantella gaps scan --dry-run           what is missing; nothing is written
  tarantella gaps scan --inventory /srv/data --expected league.yaml
  tarantella gaps show                     what the gaps file asks for

What should be there stands in config/expected_coverage.yaml, as in

  expected_coverage:
    league:
      scraper: league_scraper
      partitions: {seasons: ["2023-24", "2024-25"]}
      data_types:
        box_scores:
          path_patterns: ["raw/box_scores/{season}/*.json"]
          expected_per_partition: 1230
          freshness_days: 7
"""
COLUMNS = {
    "source": "source",
    "type": "data_type",
    "partition": "partition",
    "expected": "expected",
    "present": "present",
    "%": "completeness_percent",
    "state": "state",
    "newest": "day",
}
NOTHING = "Nothing is expected yet: the first partition is still to come."
SHOWN = 20

app = typer.Typer(
    rich_markup_mode=None,
    cls=Group,
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="Find what should be there and is missing or stale.",
)
ExpectedFile = Annotated[
    Path | None,
    typer.Option(
        "--expected",
        metavar="FILE",
        help="What should be there, in YAML or JSON.",
        show_default="config/expected_coverage.yaml",
    ),
]
InventoryPlace = Annotated[
    str,
    typer.Option(
        "--inventory", metavar="DIR", help="The folder in which patterns of paths begin, or s3://bucket/prefix."
    ),
]


@app.command(cls=Command, epilog=EXAMPLES)
def scan(
    expected: ExpectedFile = None,
    inventory: InventoryPlace = ".",
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Where the gaps are written.", rich_help_panel=OUTPUT),
    ] = Path("inventory/gaps.json"),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing.", rich_help_panel=OUTPUT)] = False,
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="Write the gaps also where a part of the inventory could not be looked at."),
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Look for what is missing or stale, and write it down as tasks for scrapers, the most urgent first.

    Where a part of the inventory can't be looked at, nobody knows what is missing: the exit code is 1, and nothing is written.
    """
    from tarantella.cli import words
    from tarantella.domain.gap import document_of
    from tarantella.services.gaps import write_scan

    terminal, found = _scanned(expected, inventory)
    written = not dry_run and write_scan(found, output, anyway=anyway)
    if as_json:
        told = {
            "output": str(output) if written else None,
            **found.to_json(),
            "gaps": document_of(found.gaps, found.scanned_at),
        }
        terminal.show_json(told)
    else:
        _show_gaps(terminal, found.gaps)
        _say_more_than_expected(terminal, found.coverage)
        if found.coverage:
            terminal.show(_sum(found.gaps) + (f" in {words.nearby(output)}" if written else ""))
        else:
            terminal.say(NOTHING)
        if found.coverage and not found.files and found.is_sure:
            terminal.say(f"No file below {found.inventory} is one of those expected. Is it the right folder?")
    return _say_problems(terminal, found, "Nothing was written." if not (written or dry_run) else None, anyway=anyway)


@app.command(cls=Command, epilog=EXAMPLES)
def coverage(expected: ExpectedFile = None, inventory: InventoryPlace = ".", as_json: AsJson = False) -> int:
    """Show how much there is of what should be, partition by partition."""
    from tarantella.cli import words
    from tarantella.cli.shown import show_table

    terminal, found = _scanned(expected, inventory)
    if as_json:
        terminal.show_json(found.to_json())
    else:
        rows = [each.to_json() for each in found.coverage]
        days = [words.when(each.newest)[:10] or None for each in found.coverage]
        told = [{**row, "day": day} for row, day in zip(rows, days, strict=True)]
        show_table(terminal, told, COLUMNS, NOTHING)
        _say_more_than_expected(terminal, found.coverage)
    return _say_problems(terminal, found, None, anyway=False)


@app.command(cls=Command, epilog=EXAMPLES)
def show(
    file: Annotated[Path, typer.Argument(metavar="[FILE]", help="A gaps file.")] = Path("inventory/gaps.json"),
    as_json: AsJson = False,
) -> int:
    """Show what a gaps file asks for, and which of its entries can't be understood."""
    from tarantella.cli import words
    from tarantella.cli.terminal import open_terminal
    from tarantella.domain.gap import document_of
    from tarantella.domain.struct import asdict
    from tarantella.services.gaps_file import read_gaps_file

    terminal = open_terminal()
    found = read_gaps_file(file, "file")
    document = {**document_of(found.gaps, ""), "generated_at": found.generated_at}
    if as_json:
        told = {"file": str(file), **document, "problems": [asdict(each) for each in found.problems]}
        terminal.show_json(told)
    else:
        _show_gaps(terminal, found.gaps)
        if found.gaps:
            for name in ("by_source", "by_scraper"):
                terminal.show(f"{name.replace('_', ' ')}: {_counts(document[name])}")
        terminal.show(f"{_sum(found.gaps)} in {words.nearby(file)}, of {words.clean(found.generated_at or 'no date')}")
        for problem in found.problems[:SHOWN]:
            named = f" ({words.clean(problem.id)})" if problem.id else ""
            terminal.say(f"{problem.place}{named} can't be understood: {words.clean(problem.told)}")
        _say_rest(terminal, len(found.problems))
    return exits.PARTIAL if found.problems else exits.COMPLETE


def _scanned(expected: Path | None, inventory: str) -> tuple[Terminal, Scan]:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from tarantella.cli.terminal import open_terminal
    from tarantella.services.gaps import scan as look
    from tarantella.settings import load

    return open_terminal(), look(expected, inventory, datetime.now(ZoneInfo(load().timezone)))


def _show_gaps(terminal: Terminal, gaps: Sequence[Gap]) -> None:
    from tarantella.cli import words

    ordered = sorted(gaps, key=lambda gap: gap.priority)
    for gap in ordered[:SHOWN]:
        # What says which it is is short; lists of what is missing are for the scraper.
        which = " ".join(str(value) for value in gap.params.values() if isinstance(value, str | int))
        reason = f": {gap.reason}" if gap.reason else ""
        terminal.show(f"  {gap.priority.name:<8}  {words.clean(f'{gap.source} {which}'.strip())}{words.clean(reason)}")
    _say_rest(terminal, len(ordered))


def _say_rest(terminal: Terminal, many: int) -> None:
    if many > SHOWN:
        terminal.say(f"And {many - SHOWN:,} more: --json has all of them.")


def _sum(gaps: Sequence[Gap]) -> str:
    """`3 gaps (1 CRITICAL, 2 LOW), 90 minutes`."""
    from tarantella.cli import words
    from tarantella.domain.gap import document_of

    if not gaps:
        return "No gaps"
    document = document_of(gaps, "")
    minutes = document["estimated_total_minutes"]
    return f"{words.count(len(gaps), 'gap')} ({_counts(document['by_priority'])}){f', {minutes:,} minutes' if minutes else ''}"


def _counts(counted: dict[str, int]) -> str:
    from tarantella.cli import words

    return ", ".join(f"{number:,} {words.clean(name)}" for name, number in counted.items() if number)


def _say_more_than_expected(terminal: Terminal, found: Sequence[Coverage]) -> None:
    from tarantella.cli import words

    more = [each for each in found if each.surplus]
    for each in more[:SHOWN]:
        which = " ".join(filter(None, (each.source, each.data_type, each.partition)))
        terminal.say(f"{words.clean(which)} has {words.count(each.surplus, 'file')} more than expected.")
    _say_rest(terminal, len(more))


def _say_problems(terminal: Terminal, found: Scan, therefore: str | None, *, anyway: bool) -> int:
    from tarantella.cli import words
    from tarantella.cli.command import say_error

    if found.is_sure:
        return exits.COMPLETE
    for problem in found.problems[:SHOWN]:
        terminal.say(words.clean(problem))
    _say_rest(terminal, len(found.problems))
    if anyway:
        terminal.say("What could not be looked at counts as missing.")
        return exits.COMPLETE
    told = f"A part of {found.inventory} could not be looked at: nobody knows what is missing there."
    if therefore:
        told += f" {therefore} Make it readable, or say --anyway, and it counts as missing."
    say_error(told)
    return exits.FAILED
