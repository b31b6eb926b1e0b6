"""How a run is going: a few lines that redraw themselves on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING

from tarantella.cli import words
from tarantella.cli.styled import Styled
from tarantella.cli.terminal import Terminal
from tarantella.domain.progress import at_least

if TYPE_CHECKING:
    from rich.live import Live

    from tarantella.services.foreground import Snapshot

FIRST_LINE_AFTER = 2.0
LINE_EVERY = 10.0
SHOWN_IN_FLIGHT = 3
WIDEST = 100
INDENT = "  "
SPINNER = "|/-\\"
SPINNER_UNICODE = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Progress(AbstractContextManager["Progress"]):
    """Is shown each snapshot of a run; this one keeps it to itself."""

    def __call__(self, snapshot: Snapshot) -> None:
        """A run at one moment."""

    def note(self, text: str) -> None:
        """Say something that stays."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The run has ended, or we have."""


class PlainProgress(Progress):
    """A line now and then, for logs and pipes."""

    def __init__(self, terminal: Terminal, clock: Callable[[], float] = time.monotonic) -> None:
        self._terminal = terminal
        self._clock = clock
        self._began = clock()
        self._next = FIRST_LINE_AFTER

    def __call__(self, snapshot: Snapshot) -> None:
        elapsed = self._clock() - self._began
        if elapsed >= self._next:
            self._next = elapsed + LINE_EVERY
            self._terminal.say(plain_line(snapshot, elapsed))

    def note(self, text: str) -> None:
        self._terminal.say(text)


class LiveProgress(Progress):
    """A few lines at the bottom of the terminal, gone when the run has ended."""

    def __init__(self, terminal: Terminal, clock: Callable[[], float] = time.monotonic) -> None:
        self._terminal = terminal
        self._clock = clock
        self._began = clock()
        self._frame = 0
        self._live: Live | None = None

    def __call__(self, snapshot: Snapshot) -> None:
        if self._live is None and snapshot.run.is_over:
            return  # it was over before anybody could have seen it
        self._frame += 1
        elapsed = self._clock() - self._began
        width = min(self._terminal.err.width - 1, WIDEST)
        lines = live_lines(snapshot, elapsed, width, unicode=self._terminal.unicode, frame=self._frame)
        self._draw(lines)

    def note(self, text: str) -> None:
        self._terminal.say(text)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._draw([])
            self._live.stop()

    def _draw(self, lines: list[Styled]) -> None:
        # Only now, when requests are on their way: loading it takes as long as fetching a page.
        from rich.text import Text

        self._live = self._live or self._started()
        self._live.update(Text("\n", no_wrap=True).join(line.drawn() for line in lines), refresh=True)

    def _started(self) -> Live:
        from rich.live import Live

        # Refreshed by whoever watches the run: a thread of its own would fight the crawl for the interpreter.
        live = Live(
            console=self._terminal.err.console,
            transient=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        live.start()
        return live


def open_progress(terminal: Terminal) -> Progress:
    """The kind of progress that suits this terminal."""
    if terminal.quiet:
        return Progress()
    return LiveProgress(terminal) if terminal.live else PlainProgress(terminal)


def _phase(snapshot: Snapshot) -> str:
    """One word for what it does; where no link is followed, there is nothing to discover."""
    return "fetching" if snapshot.phase == "discovering" and not _finds_pages(snapshot) else snapshot.phase


def _finds_pages(snapshot: Snapshot) -> bool:
    return snapshot.pace.discovering and (snapshot.run.spec.depth != 1 or bool(snapshot.run.spec.sitemaps))


def plain_line(snapshot: Snapshot, elapsed: float) -> str:
    counts = snapshot.run.counts
    parts = [
        f"[{words.clock(elapsed)}] {_phase(snapshot)}: {words.count(counts.done)} done",
        f"{words.count(counts.failed)} failed",
        f"{words.count(counts.skipped)} skipped",
        f"{words.count(counts.pending)} queued",
        words.rate(snapshot.pace.rate),
    ]
    if (outlook := _outlook(snapshot)) is not None:
        parts.append(outlook)
    parts += _waits(snapshot)
    return ", ".join(parts)


def live_lines(snapshot: Snapshot, elapsed: float, width: int, *, unicode: bool, frame: int = 0) -> list[Styled]:
    """At most eight lines of at most this width."""
    ellipsis = "…" if unicode else "..."
    lines = [
        _heading(snapshot, elapsed, width, unicode, frame),
        _bar(snapshot, width, unicode),
        _numbers(snapshot),
    ]
    pace = [words.rate(snapshot.pace.rate), _outlook(snapshot)]
    lines.append(Styled(INDENT + "   ".join(part for part in pace if part)))
    for url in snapshot.in_flight[:SHOWN_IN_FLIGHT]:
        lines.append(Styled((INDENT + words.short_url(url, width - len(INDENT), ellipsis), "dim")))
    if waits := _waits(snapshot):
        style = "yellow" if snapshot.trouble else "dim"
        lines.append(Styled((words.shortened(INDENT + ", ".join(waits), width, ellipsis), style)))
    return lines


def _heading(snapshot: Snapshot, elapsed: float, width: int, unicode: bool, frame: int) -> Styled:
    spinner = SPINNER_UNICODE if unicode else SPINNER
    roots = snapshot.run.roots
    place = words.host_of(roots[0]) if roots else ""
    more = f" and {words.count(len(roots) - 1)} more" if len(roots) > 1 else ""
    right = words.clock(elapsed)
    room = width - len(right) - 1
    left = f"{spinner[frame % len(spinner)]} {_phase(snapshot)}  "
    left += words.shortened(place + more, max(8, room - len(left)), "…" if unicode else "...")
    return Styled((left.ljust(room), "bold"), " ", (right, "dim"))


def _bar(snapshot: Snapshot, width: int, unicode: bool) -> Styled:
    counts = snapshot.run.counts
    ended = counts.total - counts.pending
    told = f" {words.count(ended)} of {words.count(counts.total)}"
    room = width - len(INDENT) - len(told)
    filled = room * ended // counts.total if counts.total else 0
    full, empty = ("█", "░") if unicode else ("#", ".")
    return Styled(INDENT, (full * filled, "green"), (empty * (room - filled), "dim"), told)


def _numbers(snapshot: Snapshot) -> Styled:
    counts = snapshot.run.counts
    return Styled(
        INDENT,
        (f"{words.count(counts.done)} done", "green"),
        "   ",
        (f"{words.count(counts.failed)} failed", "red" if counts.failed else "dim"),
        "   ",
        (f"{words.count(counts.skipped)} skipped", "dim"),
        "   ",
        f"{words.count(counts.pending)} queued",
    )


def _outlook(snapshot: Snapshot) -> str | None:
    """When the end can be expected; while pages are still found faster than done, nobody knows."""
    pace = snapshot.pace
    if snapshot.run.is_over or not snapshot.run.counts.pending:
        return None
    if (eta := at_least(pace.eta, snapshot.waits_seconds)) is not None:
        told = words.eta(*eta)
        return f"{told}, still finding pages" if _finds_pages(snapshot) else told
    return "still finding pages" if _finds_pages(snapshot) else None


def _waits(snapshot: Snapshot) -> list[str]:
    """What keeps it from going on right now."""
    found = []
    if snapshot.trouble:
        found.append(f"results can't be stored: {words.clean(snapshot.trouble)}")
    if snapshot.kept is not None:
        found.append(snapshot.kept)
    elif snapshot.waits_seconds is not None and snapshot.waits_seconds > 0.5:
        found.append(f"next try in {words.wait(snapshot.waits_seconds)}")
    if snapshot.run.reason and not snapshot.run.is_over and snapshot.phase == "queued":
        found.append(words.clean(snapshot.run.reason))
    return found
