"""The log says as much as was asked for, and never a secret."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from tarantella import log as speaking
from tarantella.cli import logs
from tarantella.log import NAME, log


@pytest.fixture(autouse=True)
def _own_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """What these tests configure ends with them."""
    monkeypatch.setenv(logs.LOG_FILE_VARIABLE, "")


def talk() -> None:
    log.debug("a detail")
    log.info("a fact")
    log.warning("a worry", action="worry")
    log.error("an error", url="https://a.com/?token=hunter2")


@pytest.mark.parametrize(
    ("verbose", "warnings", "levels"),
    [
        (0, False, ["error"]),
        (0, True, ["warning", "error"]),
        (1, True, ["info", "warning", "error"]),
        (2, False, ["debug", "info", "warning", "error"]),
        (5, True, ["debug", "info", "warning", "error"]),
    ],
)
def test_more_is_said_when_more_is_asked_for(verbose: int, warnings: bool, levels: list[str]) -> None:
    said: list[str] = []
    logs.configure(verbose=verbose, warnings=warnings, say=said.append)
    talk()
    assert [line.partition(":")[0] for line in said] == levels


def test_the_file_gets_everything_as_json_lines_and_is_appended_to() -> None:
    said: list[str] = []
    for _ in range(2):
        logs.configure(file=Path("log"), say=said.append)
        talk()
    lines = [json.loads(line) for line in Path("log").read_text().splitlines()]
    assert [line["level"] for line in lines] == ["debug", "info", "warning", "error"] * 2
    assert all(line["timestamp"].endswith("Z") for line in lines)
    assert len(said) == 4


def test_secrets_are_blotted_out_wherever_they_stand() -> None:
    said: list[str] = []
    logs.configure(file=Path("log"), say=said.append)
    log.error(
        "went to http://me:hunter2@a.com/?api_key=hunter2",
        headers={"Authorization": "hunter2", "X-Fine": "seen"},
        hops=["https://a.com/?password=hunter2"],
        Cookie="hunter2",
    )
    told = said[0] + Path("log").read_text()
    assert "hunter2" not in told
    assert "seen" in told


def test_what_other_libraries_log_goes_the_same_way() -> None:
    said: list[str] = []
    logs.configure(say=said.append)
    logging.getLogger("asyncio").error("Task exception was never retrieved")
    logging.getLogger("other").info("chatter")
    assert said == ["error: Task exception was never retrieved (logger=asyncio)"]


def test_a_child_logs_to_its_parents_file_and_never_to_the_terminal(
    capfd: pytest.CaptureFixture[str],
) -> None:
    logs.configure(file=Path("log"))
    logs.configure_child()
    talk()
    assert len(Path("log").read_text().splitlines()) == 4
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_an_exception_is_told_with_its_traceback() -> None:
    said: list[str] = []
    logs.configure(say=said.append)
    try:
        raise ValueError("odd")
    except ValueError:
        log.exception("It broke", action="broke")
    assert said[0].startswith("error: It broke\nTraceback")


def test_a_secret_in_a_traceback_ends_with_its_line() -> None:
    said: list[str] = []
    logs.configure(file=Path("log"), say=said.append)
    try:
        raise ValueError("https://a.com/?token=hunter2\nand what followed")
    except ValueError:
        log.exception("It broke")
    told = said[0] + Path("log").read_text()
    assert "hunter2" not in told
    assert told.count("and what followed") == 2


def test_what_nobody_listens_to_is_not_even_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    logs.configure(say=said.append)

    def never(*_: Any) -> None:
        raise AssertionError("nobody listens")

    monkeypatch.setattr(speaking, "Told", never)
    log.info("a fact", number=1)
    assert said == []


def test_a_program_that_uses_tarantella_hears_it_as_any_other_library() -> None:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(filename)s %(message)s"))
    logging.getLogger(NAME).addHandler(handler)
    try:
        log.warning("It went to http://me:hunter2@a.com/", action="went", Cookie="hunter2", tries=2)
    finally:
        logging.getLogger(NAME).removeHandler(handler)
    assert out.getvalue() == "WARNING tarantella test_cli_logs.py It went to http://***@a.com/ (Cookie=***, tries=2)\n"


@pytest.mark.parametrize("odd", ["\ud800", {1: b"x"}, {"a", "b"}, object()])
def test_whatever_is_said_can_be_written(odd: Any) -> None:
    logs.configure(file=Path("log"))
    log.error("odd", fact=odd)
    assert json.loads(Path("log").read_text())["event"] == "odd"


def test_a_log_that_can_not_be_written_stops_nobody() -> None:
    said: list[str] = []
    logs.configure(file=Path("/dev/full"), say=said.append)
    log.error("no room")
    assert said == ["error: no room"]
