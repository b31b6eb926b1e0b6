"""The log says as much as was asked for, and never a secret."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from tarantella.cli import logs


@pytest.fixture(autouse=True)
def _own_log(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What these tests configure ends with them."""
    monkeypatch.setenv(logs.LOG_FILE_VARIABLE, "")
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(False)
    structlog.reset_defaults()


def talk() -> None:
    log = structlog.get_logger()
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
    structlog.get_logger().error(
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
        structlog.get_logger().exception("It broke", action="broke")
    assert said[0].startswith("error: It broke\nTraceback")
