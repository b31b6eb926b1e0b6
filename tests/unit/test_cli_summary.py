"""What a command says when its run has ended."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from tarantella.cli import words
from tarantella.cli.summary import Summary, next_commands, summary_json, summary_lines, tried
from tarantella.domain.cost import Cost
from tarantella.domain.run import Counts, RunStatus
from tarantella.domain.struct import replace
from tarantella.domain.trap import TrapNote
from tarantella.services.export import Exported
from tests.unit.made import RUN

ENDED = replace(
    RUN,
    status=RunStatus.PARTIAL,
    counts=Counts(100, 90, 6, 4, 0),
    refused={"scope": {"count": 12, "samples": []}, "scheme": {"count": 3, "samples": []}},
    bytes=2_100_000,
)
NOT_FOUND = {
    "state": "failed",
    "reason": "not_found",
    "count": 6,
    "example": "https://example.com/a?b=1&c=2",
    "detail": "HTTP 404",
}
ROBOTS = {
    "state": "skipped",
    "reason": "robots",
    "count": 4,
    "example": "https://example.com/private",
    "detail": None,
}
SUMMARY = Summary(ENDED, 10.0, 100, [NOT_FOUND, ROBOTS], Exported("jsonl", Path("data/exports/x.jsonl"), 90))


@pytest.fixture(autouse=True)
def _on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "program", lambda: "tarantella")


def told(summary: Summary) -> str:
    return "\n".join(line.plain for line in summary_lines(summary))


def test_the_numbers_add_up_and_reasons_are_in_words() -> None:
    text = told(SUMMARY)
    for part in (
        "Run cdfd30c6ab6d is partial: 90 of 100 pages done",
        "100 = 90 done + 6 failed + 4 skipped",
        "10 s, 10.0 pages/s",
        "710, 2.1 MB",
        "failed   6  the page does not exist (not_found)",
        "https://example.com/a?b=1&c=2",
        "HTTP 404",
        "skipped  4  robots.txt asks crawlers to stay away (robots)",
        "links not followed: 12 outside the scope, 3 not http or https",
        "90 records:\n  data/exports/x.jsonl",
    ):
        assert part in text


def test_pages_that_nobody_asked_for_are_no_pages_a_second() -> None:
    surplus = {**ROBOTS, "reason": "max_pages", "count": 29}
    duplicate = {**ROBOTS, "reason": "duplicate", "count": 2}
    run = replace(ENDED, counts=Counts(50, 5, 6, 35, 4))
    assert tried(run, [NOT_FOUND, ROBOTS, surplus, duplicate]) == 50 - 4 - 4 - 29


def test_every_line_fits_in_80_columns_but_for_what_is_to_be_copied() -> None:
    long: dict[str, Any] = {
        **NOT_FOUND,
        "example": "https://example.com/" + "x" * 300,
        "detail": "word " * 60,
    }
    copied = ("  tarantella ", "  data/exports/")
    lines = told(replace(SUMMARY, troubles=[long, ROBOTS])).splitlines()
    assert [line for line in lines if len(line) > 80 and not line.startswith(copied)] == []


def test_three_commands_come_next_and_can_be_pasted() -> None:
    commands = next_commands(replace(SUMMARY, suffix=" --data-dir 'my data'"))
    assert [shlex.split(command) for command in commands] == [
        ["tarantella", "runs", "show", "cdfd30c6ab6d", "--data-dir", "my data"],
        [
            "tarantella",
            "runs",
            "explain",
            "cdfd30c6ab6d",
            "https://example.com/a?b=1&c=2",
            "--data-dir",
            "my data",
        ],
        ["tarantella", "runs", "retry-failed", "cdfd30c6ab6d", "--data-dir", "my data"],
    ]
    complete = replace(SUMMARY, run=replace(ENDED, status=RunStatus.COMPLETED, counts=Counts(9, 9)), troubles=[])
    assert len(next_commands(complete)) == 3
    assert not any("retry" in command for command in next_commands(complete))


def test_an_address_with_a_secret_in_it_is_not_offered_for_explaining() -> None:
    secret = {**NOT_FOUND, "example": "https://example.com/?token=hunter2"}
    summary = replace(SUMMARY, troubles=[secret])
    assert "hunter2" not in told(summary)
    assert not any("explain" in command for command in next_commands(summary))


def test_what_can_not_go_on_is_not_offered_to_go_on() -> None:
    gone = replace(SUMMARY, resumable=False)
    assert not any("retry" in command for command in next_commands(gone))
    paused = replace(gone, run=replace(RUN, status=RunStatus.PAUSED, reason="interrupted"))
    assert "resume" not in told(paused)


def test_an_interrupted_run_says_how_to_go_on_and_that_its_records_are_incomplete() -> None:
    paused = replace(RUN, status=RunStatus.PAUSED, reason="interrupted")
    text = told(replace(SUMMARY, run=paused))
    assert "Run cdfd30c6ab6d is paused (interrupted): 700 of 1,000 pages done" in text
    assert "1,000 = 700 done + 3 failed + 7 skipped + 290 pending" in text
    assert "Everything so far is kept; the first of the commands below goes on." in text
    assert text.count("runs resume") == text.count("Next:\n  tarantella runs resume cdfd30c6ab6d") == 1
    assert "90 records so far (incomplete)" in text


def test_a_denied_network_is_told_with_the_option_that_opens_it() -> None:
    denied = {
        "state": "failed",
        "reason": "denied",
        "count": 1,
        "example": "http://10.0.0.1/",
        "detail": "10.0.0.1 is not a public address. To fetch it all the same: --allow-network 10.0.0.1/32",
    }
    run = replace(ENDED, status=RunStatus.FAILED, counts=Counts(1, 0, 1))
    summary = replace(SUMMARY, run=run, troubles=[denied])
    assert "\n  --allow-network 10.0.0.1/32\n" in told(summary)
    assert not any("retry" in command for command in next_commands(summary)), "it would be denied again"
    assert "add:" not in told(replace(summary, troubles=[denied, NOT_FOUND]))


def test_json_has_the_same_numbers() -> None:
    data = summary_json(SUMMARY, 3)
    assert data["counts"] == {"total": 100, "done": 90, "failed": 6, "skipped": 4, "pending": 0}
    assert (data["failures"], data["skips"]) == ({"not_found": 6}, {"robots": 4})
    assert (data["run_id"], data["status"], data["exit_code"]) == (RUN.id, "partial", 3)
    assert data["output"] == "data/exports/x.jsonl"


def test_traps_that_were_stopped_are_shown_with_what_would_let_them_through() -> None:
    notes = [TrapNote("dates", f"a/{n}/{{date}}", 5_000, 5_000, True, "http://a/") for n in range(7)]
    counted = TrapNote("queries", "a/list", 20_000, 100_000, False, "http://a/")
    text = told(replace(SUMMARY, run=replace(ENDED, traps=(counted, *notes))))
    assert "  trap: a/0/{date}: more than 5,000 dates at one place, as calendars have them" in text
    assert "(--trap-limit dates=N lets it through)" in text
    assert text.count("trap: ") == 5
    assert "and 2 traps more" in text
    assert "a/list" not in text
    shown = summary_json(replace(SUMMARY, run=replace(ENDED, traps=(counted, *notes))), 0)["traps"]
    assert [trap["pattern"] for trap in shown] == [note.pattern for note in notes]


def test_what_pages_would_have_needed_is_told_with_what_to_do() -> None:
    said = {"wanted": "browser", "reason": "needs_render", "url": "https://example.com/app", "remedy": "Get one."}
    text = told(replace(SUMMARY, missing=said))
    assert "A browser would get further: the page is empty until its scripts run.\n  https://example.com/app" in text
    assert "Get one." in text
    text = told(replace(SUMMARY, missing={"wanted": "browser", "why": "pinned for its site", "remedy": "Get one."}))
    assert "A browser would get further: pinned for its site.\n  Get one." in text


def test_what_a_browser_took_is_told_where_there_was_one() -> None:
    rendered = replace(ENDED, costs={"browser": Cost(pages=30, requests=31, bytes=9, milliseconds=61_500)})
    assert "710, 2.1 MB; pages: 60 with http, 30 with browser; the browser was busy for 1 min 2 s" in told(
        replace(SUMMARY, run=rendered)
    )
    assert "browser" not in told(SUMMARY)


def test_where_robots_txt_closes_everything_it_is_said_what_would_open_it() -> None:
    run = replace(ENDED, status=RunStatus.COMPLETED, counts=Counts(4, 0, 0, 4), records=0)
    closed = replace(SUMMARY, run=run, troubles=[ROBOTS], exported=None)
    assert "robots.txt closes all of it to crawlers." in told(closed)
    assert "\n  --ignore-robots\n" in told(closed)
    assert not any(command.startswith("tarantella export") for command in next_commands(closed)), "there is nothing"
    assert "--ignore-robots" not in told(SUMMARY)
