"""Where words go: data to stdout, the rest to stderr, in characters that can be shown there."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from io import TextIOBase
from typing import TYPE_CHECKING, Any, TextIO, cast

from tarantella.cli.styled import Styled
from tarantella.domain.struct import Frozen

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# A pipe has no width: lines are as long as what they say.
UNLIMITED = 100_000
USUAL_WIDTH = 80
NARROWEST, WIDEST = 60, 120  # lines that are read, wherever they end
DUMB = ("dumb", "unknown")

_TYPOGRAPHY = str.maketrans(
    {"…": "...", "–": "-", "—": "-", "→": "->", "·": "|", "’": "'", "“": '"', "”": '"', "█": "#", "░": "."}
)


class _Wrapped(TextIOBase):
    """A stream in front of another."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()


class AsciiStream(_Wrapped):
    """A stream that writes whatever it is given in ASCII."""

    encoding = "ascii"

    def write(self, text: str) -> int:
        self._stream.write(text.translate(_TYPOGRAPHY).encode("ascii", "replace").decode())
        return len(text)


class TerminalStream(_Wrapped):
    """A terminal that may be closed: what is said to it from then on is lost, and the work is not."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def write(self, text: str) -> int:
        self._unless_gone(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        self._unless_gone(self._stream.flush)

    def _unless_gone(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            # What waits to be written would be tried again, by Python at its end as well.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


class Screen:
    """One stream. Words are written to it as they are; what has to be drawn goes through Rich, which is loaded for that."""

    def __init__(self, file: TextIO, *, draws: bool, width: int | None = None) -> None:
        self._file = file
        self._draws = draws
        self._width = width

    def print(self, what: Any, *, style: str | None = None) -> None:
        """A line of words, or something that only Rich can show."""
        words = isinstance(what, str | Styled)
        if words and not self._draws:
            self._file.write(f"{what.plain if isinstance(what, Styled) else what}\n")
            self._file.flush()
        else:
            shown = what.drawn() if isinstance(what, Styled) else what
            self.console.print(shown, style=style, soft_wrap=words)

    @cached_property
    def console(self) -> Console:
        """Shows text as it is: an address with brackets or colons in it is neither markup nor a smiley."""
        from rich.console import Console

        class PipeConsole(Console):
            """A console that lets the command decide what it means that nobody reads any more."""

            def on_broken_pipe(self) -> None:
                raise BrokenPipeError

        return PipeConsole(
            file=self._file,
            width=self._width,
            force_terminal=self._draws,
            markup=False,
            emoji=False,
            highlight=False,
        )

    @property
    def width(self) -> int:
        return self._width or _columns(self._file)


class TimedScreen(Screen):
    """One whose lines say when they were written, for those who read them later."""

    def print(self, what: Any, *, style: str | None = None) -> None:
        words = what.plain if isinstance(what, Styled) else what
        super().print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {words}", style=style)


class Terminal(Frozen):
    """What a command writes to."""

    out: Screen
    err: Screen
    unicode: bool
    live: bool  # stderr can redraw lines that it has shown
    quiet: bool = False

    @property
    def ellipsis(self) -> str:
        return "…" if self.unicode else "..."

    def say(self, text: Any = "", *, style: str | None = None) -> None:
        """Tell the user something on stderr."""
        if not self.quiet:
            self.err.print(text, style=style)

    def log(self, line: str) -> None:
        """A line of the log, above whatever is being redrawn."""
        self.err.print(line, style="yellow" if line.startswith("warning") else None)

    def show(self, text: Any = "", *, style: str | None = None) -> None:
        """Put what was asked for on stdout."""
        self.out.print(text, style=style)

    def show_json(self, value: Any) -> None:
        """One JSON value on stdout, always in UTF-8."""
        import orjson

        sys.stdout.flush()
        try:
            text = orjson.dumps(value, option=orjson.OPT_INDENT_2)
        except TypeError:
            # What stands on a page may be nothing that JSON has a word for.
            from tarantella.domain.jsonable import jsonable

            text = orjson.dumps(jsonable(value), option=orjson.OPT_INDENT_2)
        sys.stdout.buffer.write(text + b"\n")
        sys.stdout.buffer.flush()

    def show_line(self, value: Any) -> None:
        """One JSON value in one line, at once."""
        import orjson

        sys.stdout.buffer.write(orjson.dumps(value) + b"\n")
        sys.stdout.buffer.flush()


def open_terminal(*, quiet: bool = False, timed: bool = False) -> Terminal:
    """The terminal, pipe or file that this process was given; `timed` where stderr is a log."""
    return Terminal(
        out=_screen(sys.stdout),
        err=_screen(sys.stderr, TimedScreen if timed and not sys.stderr.isatty() else Screen),
        unicode=_shows_unicode(sys.stderr),
        live=sys.stderr.isatty() and _draws(sys.stderr) and os.environ.get("TERM", "").lower() not in DUMB,
        quiet=quiet,
    )


def _screen(stream: TextIO, kind: type[Screen] = Screen) -> Screen:
    file = cast(TextIO, TerminalStream(stream)) if stream.isatty() else stream
    file = file if _shows_unicode(stream) else cast(TextIO, AsciiStream(file))
    return kind(file, draws=_draws(stream), width=None if stream.isatty() else UNLIMITED)


def _draws(stream: TextIO) -> bool:
    """Whether styles are shown there; the user knows best."""
    if (compatible := os.environ.get("TTY_COMPATIBLE")) in ("0", "1"):
        return compatible == "1"
    if (forced := os.environ.get("FORCE_COLOR")) is not None:
        return forced != ""
    return stream.isatty()


def _columns(stream: TextIO) -> int:
    if (given := os.environ.get("COLUMNS", "")).isdecimal():
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
    except (OSError, ValueError):
        return USUAL_WIDTH


def line_width(stream: TextIO) -> int:
    """How long a line of words may be there."""
    return max(NARROWEST, min(_columns(stream), WIDEST)) if stream.isatty() else UNLIMITED


def grid(*columns: str, right: Sequence[int] = (), flexible: int | None = None) -> Table:
    """A table without lines around it; only the flexible column gives way when the room is too narrow."""
    from rich.table import Table

    table = Table(
        box=None,
        pad_edge=False,
        show_edge=False,
        padding=(0, 2, 0, 0),
        header_style="bold",
        show_header=any(columns),
    )
    for number, name in enumerate(columns):
        table.add_column(
            name,
            justify="right" if number in right else "left",
            no_wrap=number != flexible,
            overflow="fold",
        )
    return table


def _shows_unicode(stream: TextIO) -> bool:
    encoding = (stream.encoding or "").lower().replace("-", "").replace("_", "")
    return encoding.startswith("utf") and not _asked_for_ascii()


def _asked_for_ascii() -> bool:
    # In the C locale Python speaks UTF-8 all the same, and sets LC_CTYPE to say so: that was not the user.
    characters = os.environ.get("LC_CTYPE", "")
    chosen = os.environ.get("LC_ALL") or (characters if characters != "C.UTF-8" else "") or os.environ.get("LANG")
    return chosen in ("C", "POSIX")
