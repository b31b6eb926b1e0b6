"""What is shown suits where it is shown."""

from __future__ import annotations

import io
import json

import pytest

from tarantella.cli.terminal import AsciiStream, grid, open_terminal


@pytest.fixture(autouse=True)
def _no_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_CTYPE", "LANG", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("environment", "unicode"),
    [
        ({}, True),
        ({"LANG": "de_DE.UTF-8"}, True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),  # as Python leaves it when the user said LANG=C
        ({"LC_ALL": "C"}, False),
        ({"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}, False),
        ({"LC_ALL": "C.UTF-8", "LANG": "C"}, True),
        ({"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, True),
    ],
)
def test_the_locale_decides_between_unicode_and_ascii(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], unicode: bool
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert open_terminal().unicode is unicode


def test_a_stream_that_can_not_encode_gets_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stderr", io.TextIOWrapper(raw, "latin-1", write_through=True))
    open_terminal().say("ETA 2–4 min → 日本…")
    assert raw.getvalue() == b"ETA 2-4 min -> ??...\n"


def test_lines_in_a_pipe_are_not_broken(capfd: pytest.CaptureFixture[str]) -> None:
    terminal = open_terminal()
    table = grid("name", "address", flexible=1)
    table.add_row("a", "x" * 500)
    terminal.show(table)
    terminal.say("y" * 500)
    written = capfd.readouterr()
    assert (len(written.out.splitlines()), len(written.err.splitlines())) == (2, 1)
    assert not terminal.live


def test_what_looks_like_markup_is_shown_as_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    odd = "https://a.com/[bold]x[/bold]?a[]=1 :smile:"
    open_terminal().show(odd)
    open_terminal().say(odd)
    assert capfd.readouterr() == (f"{odd}\n", f"{odd}\n")


def test_quiet_keeps_what_is_said_and_shows_what_was_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    terminal = open_terminal(quiet=True)
    terminal.say("progress")
    terminal.show("data")
    terminal.show_json({"title": "日本"})
    written = capfd.readouterr()
    assert written.err == ""
    first, _, rest = written.out.partition("\n")
    assert (first, json.loads(rest)) == ("data", {"title": "日本"})


def test_ascii_streams_keep_the_length_of_what_was_written() -> None:
    out = io.StringIO()
    assert AsciiStream(out).write("…") == 1
    assert out.getvalue() == "..."
