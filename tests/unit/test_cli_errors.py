"""Errors are one line and an exit code, never a traceback that nobody asked for."""

from __future__ import annotations

import sys
from io import StringIO
from typing import cast

import pytest

from tarantella.cli import exits
from tarantella.cli.app import app
from tarantella.cli.command import complain
from tarantella.domain.errors import Conflict, InvalidInput, NotFound, StoreBroken, StoreBusy, TarantellaError
from tarantella.domain.run import RunStatus


@pytest.mark.parametrize(
    ("kind", "code"),
    [(InvalidInput, 2), (NotFound, 2), (Conflict, 2), (StoreBusy, 1), (StoreBroken, 1), (TarantellaError, 1)],
)
def test_what_the_user_can_mend_by_asking_differently_gives_2(
    kind: type[TarantellaError], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert complain(kind("It is\nso.", remedy="Do this.")) == code
    assert capsys.readouterr().err == "error: It is so. Do this.\n"


LONG = (
    "http://a.example/a-rather-long-address-that-has-no-blank-in-it/and-goes-on-and-on?until=it-is-wider-than-all "
    "can't be read: it says no. To fetch it all the same: --allow-network 127.0.0.1/32. Or see `tarantella runs show "
    "0bca5f6d2582 --data-dir /somewhere/else` for more, which is a command to be copied."
)


class Terminal(StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("columns", "widest"), [(80, 80), (100, 100), (300, 120)])
def test_in_a_terminal_lines_end_between_words(columns: int, widest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys, "stderr", Terminal())
    complain(InvalidInput(LONG))
    lines = cast(Terminal, sys.stderr).getvalue().splitlines()
    assert len(lines) > 2
    assert " ".join(lines) == f"error: {LONG}"
    assert all(len(line) <= widest for line in lines if "a.example" not in line and "`" not in line)
    for whole in (
        "--allow-network 127.0.0.1/32",
        LONG.split(maxsplit=1)[0],
        LONG[LONG.index("`") : LONG.rindex("`") + 1],
    ):
        assert any(whole in line for line in lines)


def test_so_do_those_about_what_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(SystemExit):
        app(["scrape", "--strategy", "something-that-is-no-strategy-at-all", "example.com"])
    lines = cast(Terminal, sys.stderr).getvalue().splitlines()
    assert "is not one of" in " ".join(lines)
    assert max(map(len, lines)) <= 80


def test_elsewhere_an_error_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    complain(InvalidInput(LONG))
    assert capsys.readouterr().err == f"error: {LONG}\n"


def test_the_unexpected_is_one_line_too_and_shows_where_with_vv(capsys: pytest.CaptureFixture[str]) -> None:
    assert complain(ZeroDivisionError("by\nzero")) == 1
    told = capsys.readouterr().err
    assert told.startswith("error: Something unexpected went wrong: ZeroDivisionError: by zero.")
    assert (len(told.splitlines()), "-vv" in told) == (1, True)
    complain(ZeroDivisionError("by zero"), verbose=2)
    assert capsys.readouterr().err.startswith("ZeroDivisionError: by zero\nerror: ")


@pytest.mark.parametrize(
    ("status", "fail_on", "code"),
    [
        ("completed", "partial", 0),
        ("partial", "partial", 3),
        ("partial", "failed", 0),
        ("partial", "never", 0),
        ("failed", "partial", 1),
        ("failed", "failed", 1),
        ("failed", "never", 0),
        ("paused", "never", 130),
        ("cancelled", "never", 130),
        ("running", "partial", 130),
    ],
)
def test_the_end_of_a_run_and_the_users_wish_make_the_exit_code(status: str, fail_on: exits.FailOn, code: int) -> None:
    assert exits.of_run(RunStatus(status), 1, fail_on) == code


@pytest.mark.parametrize(("fail_on", "code"), [("partial", 1), ("failed", 1), ("never", 0)])
def test_a_run_that_has_nothing_is_no_success(fail_on: exits.FailOn, code: int) -> None:
    assert exits.of_run(RunStatus.COMPLETED, 0, fail_on) == code
