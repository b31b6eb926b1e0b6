"""What a terminal and a pipe show of a run that is going on."""

from __future__ import annotations

import io
from typing import TextIO, cast

import pytest

from tarantella.cli.progress import (
    LINE_EVERY,
    LiveProgress,
    PlainProgress,
    Progress,
    live_lines,
    open_progress,
    plain_line,
)
from tarantella.cli.terminal import AsciiStream, Screen, Terminal
from tarantella.domain.progress import Pace
from tarantella.domain.run import RunStatus
from tarantella.domain.spec import Spec
from tarantella.domain.struct import replace
from tarantella.services.foreground import Snapshot
from tests.unit.made import RUN

LONG = "https://example.com/" + "folder/" * 30 + "page.html"
SNAPSHOT = Snapshot(RUN, Pace(12.34, (130.0, 245.0), discovering=False), "fetching", [LONG] * 9, None, None)


def terminal(file: io.StringIO | AsciiStream, *, quiet: bool = False, live: bool = False) -> Terminal:
    screen = Screen(cast(TextIO, file), draws=live, width=80)
    return Terminal(screen, screen, unicode=not isinstance(file, AsciiStream), live=live, quiet=quiet)


@pytest.mark.parametrize("width", [60, 79])
@pytest.mark.parametrize("unicode", [True, False])
def test_live_lines_are_at_most_eight_and_fit(width: int, unicode: bool) -> None:
    worst = replace(SNAPSHOT, trouble="The disk is full. " * 20, waits_seconds=7.0)
    lines = [line.plain for line in live_lines(worst, 3_700, width, unicode=unicode)]
    assert len(lines) == 8
    assert max(map(len, lines)) <= width


def test_live_lines_tell_numbers_speed_and_when_it_may_end() -> None:
    told = "\n".join(line.plain for line in live_lines(SNAPSHOT, 42, 79, unicode=True))
    for part in (
        "fetching  example.com",
        "0:42",
        "710 of 1,000",
        "700 done",
        "3 failed",
        "7 skipped",
        "290 queued",
    ):
        assert part in told
    assert "12.3 pages/s   ETA 2–4 min" in told
    assert told.count("page.html") == 3


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"pace": Pace(5, None, discovering=True)}, "still finding pages"),
        ({"pace": Pace(5, (60, 90), discovering=True)}, "ETA 1–2 min, still finding pages"),
        ({"in_flight": [], "waits_seconds": 6.2, "phase": "waiting"}, "next try in 7 s"),
        ({"in_flight": [], "waits_seconds": 290, "kept": "of its hosts, 1 is paused by its policy"}, "1 is paused"),
        ({"trouble": "There is no room left."}, "results can't be stored: There is no room left."),
        (
            {"phase": "queued", "run": replace(RUN, status=RunStatus.QUEUED, reason="waits for 5 runs")},
            "waits for 5 runs",
        ),
    ],
)
def test_what_it_waits_for_is_told_in_both_ways(change: dict[str, object], told: str) -> None:
    snapshot = replace(SNAPSHOT, **change)
    assert told in plain_line(snapshot, 10)
    assert told in "\n".join(line.plain for line in live_lines(snapshot, 10, 79, unicode=True))


def test_where_no_link_is_followed_nothing_is_being_found() -> None:
    snapshot = replace(SNAPSHOT, run=replace(RUN, spec=Spec(depth=1)), phase="discovering", pace=Pace(5, None, True))
    assert "finding" not in plain_line(snapshot, 1)
    assert plain_line(snapshot, 1).startswith("[0:01] fetching: 700 done")


def test_a_pipe_gets_its_first_line_after_two_seconds_and_then_one_every_ten() -> None:
    out, now = io.StringIO(), 0.0
    with PlainProgress(terminal(out), clock=lambda: now) as progress:
        for tick in range(round((2 * LINE_EVERY + 2.5) / 0.2)):
            now = tick * 0.2
            progress(SNAPSHOT)
    assert [line[:6] for line in out.getvalue().splitlines()] == ["[0:02]", "[0:12]", "[0:22]"]


def test_the_live_display_is_gone_afterwards_and_notes_stay() -> None:
    out = io.StringIO()
    with LiveProgress(terminal(out, live=True)) as progress:
        progress(SNAPSHOT)
        progress.note("Stopping.")
        progress(SNAPSHOT)
    written = out.getvalue()
    assert "Stopping." in written
    assert written.count("\x1b[?25l") == written.count("\x1b[?25h") == 1
    assert written.rstrip().endswith("\x1b[2K") or "queued" not in written[written.rindex("\x1b[?25h") :]


def test_a_run_that_is_over_at_once_is_not_drawn() -> None:
    out = io.StringIO()
    with LiveProgress(terminal(out, live=True)) as progress:
        progress(replace(SNAPSHOT, run=replace(RUN, status=RunStatus.COMPLETED)))
    assert out.getvalue() == ""


def test_an_ascii_terminal_gets_ascii_only() -> None:
    out = io.StringIO()
    with LiveProgress(terminal(AsciiStream(out), live=True)) as progress:
        progress(SNAPSHOT)
    assert out.getvalue().isascii()
    assert "ETA 2-4 min" in out.getvalue()


def test_quiet_shows_nothing() -> None:
    out = io.StringIO()
    quiet = open_progress(terminal(out, quiet=True, live=True))
    with quiet as progress:
        progress(SNAPSHOT)
        progress.note("Stopping.")
    assert type(quiet) is Progress
    assert out.getvalue() == ""
