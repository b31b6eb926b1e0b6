"""How the end of a script is judged, and what follows."""

from __future__ import annotations

import pytest

from tarantella.domain.scraper import Retry
from tarantella.domain.script_end import POLICY, ScriptFailure, again_after, counted, judged


@pytest.mark.parametrize(
    ("stdout", "records"),
    [
        ("", None),
        ("done", None),
        ("['--season', '2024-25']", None),
        ('{"records": 12}', 12),
        ('noise\n{"items": ["a", "b"]}\nbye', 2),
        ('{"records": true}', None),
        ('{"records": -3}', 0),
        ("Collected 1,234 games", 1234),
        ("saved: 7", 7),
        ("Found 0 new games", 0),
        ("records=5\nitems: 0", 0),
        ("5 of 7 pages", 5),
        ("0/7 new items", 0),
        ("{" * 100_000, None),
        (f"saved {10**30} records", 2**63 - 1),
        (f'{{"records": {10**30}}}', 2**63 - 1),
    ],
)
def test_what_a_script_says_it_collected(stdout: str, records: int | None) -> None:
    assert counted(stdout) == records


@pytest.mark.parametrize(
    ("code", "stdout", "stderr", "failure"),
    [
        (0, "saved 3 records", "", None),
        (0, "all went well", "", None),
        (0, "", "a word of warning", None),
        (0, "", "", ScriptFailure.NO_DATA),
        (0, "collected 0 items", "", ScriptFailure.NO_DATA),
        (1, "", "Error: API rate limit exceeded", ScriptFailure.RATE_LIMITED),
        (1, "HTTP 429", "", ScriptFailure.RATE_LIMITED),
        (1, "", "403 Forbidden", ScriptFailure.BLOCKED),
        (1, "", "ConnectionRefusedError: [Errno 111] Connection refused", ScriptFailure.NETWORK),
        (1, "", "ZeroDivisionError", ScriptFailure.EXIT),
        (2, "saved 3 records", "", ScriptFailure.EXIT),
        (-9, "", "", ScriptFailure.SIGNAL),
    ],
)
def test_one_table_judges(code: int, stdout: str, stderr: str, failure: ScriptFailure | None) -> None:
    assert judged(code, 1.0, stdout, stderr).failure == failure


def test_the_detail_has_what_was_said_last() -> None:
    assert judged(3, 1.0, "", "a\nb: it broke\n").detail == "exit code 3: b: it broke"


def test_every_failure_has_a_policy() -> None:
    assert set(POLICY) == set(ScriptFailure)


def test_what_can_pass_is_tried_again_as_often_as_the_scraper_says() -> None:
    retry = Retry(3, 1.0, 30.0)
    assert [again_after(ScriptFailure.EXIT, failures, retry) for failures in (1, 2, 3)] == [1.0, 2.0, None]
    assert again_after(ScriptFailure.RATE_LIMITED, 1, retry) == 10.0
    assert again_after(ScriptFailure.RATE_LIMITED, 2, Retry(9, 5.0, 30.0)) == 30.0
    assert again_after(ScriptFailure.CONFIG, 1, retry) is None
    assert again_after(ScriptFailure.EXIT, 1, Retry()) is None
