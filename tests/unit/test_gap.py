"""What a gaps file says, entry by entry, and what is written back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tarantella.domain.errors import InvalidInput
from tarantella.domain.gap import Gap, NotGaps, document_of, gaps_of
from tarantella.domain.run import Priority
from tarantella.services.gaps_file import read_gaps_file, write_gaps_file

TASK: dict[str, Any] = {
    "id": "task_000001",
    "priority": "CRITICAL",
    "source": "league",
    "scraper": "league_scraper",
    "season": "2024-25",
    "game_ids": [401579404, 401579405],
    "estimated_time_minutes": 45,
    "reason": "stale",
    "status": "pending",
}


def nested(levels: int) -> Any:
    """A list in a list in a list, as deep as a parser lets pass."""
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


def test_an_entry_is_read_and_written_as_it_was() -> None:
    [gap] = gaps_of({"tasks": [TASK]}).gaps
    assert (gap.priority, gap.estimated_minutes) == (Priority.CRITICAL, 45.0)
    assert gap.params == {"season": "2024-25", "game_ids": [401579404, 401579405]}
    assert gap.to_json() == TASK


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (None, "not an object"),
        ({**TASK, "id": ""}, "id is ''"),
        ({**TASK, "id": None}, "id is missing"),
        ({**TASK, "priority": "URGENT"}, "none of CRITICAL, HIGH, MEDIUM, LOW"),
        ({**TASK, "priority": 3}, "The priority 3"),
        ({**TASK, "scraper": ["x"]}, "scraper is"),
        ({**TASK, "source": "x" * 201}, "source is"),
        ({**TASK, "estimated_time_minutes": -1}, "estimated_time_minutes is -1"),
        ({**TASK, "estimated_time_minutes": float("nan")}, "estimated_time_minutes is nan"),
        ({**TASK, "estimated_time_minutes": "5"}, "estimated_time_minutes is '5'"),
        ({**TASK, "missing_files": ["x" * 1_000_000]}, "more than 1,000,000 bytes"),
        ({**TASK, "missing_files": nested(51)}, "more than 50 levels deep"),
        ({**TASK, "missing_files": nested(1_000)}, "more than 50 levels deep"),
    ],
)
def test_an_entry_that_is_none_is_told_of_and_costs_no_other(said: Any, told: str) -> None:
    found = gaps_of({"tasks": [{**TASK, "id": "a"}, said, {**TASK, "id": "b"}]})
    assert [gap.id for gap in found.gaps] == ["a", "b"]
    [problem] = found.problems
    assert problem.place == "tasks.1" and told in problem.told


def test_an_id_that_comes_twice_counts_once() -> None:
    found = gaps_of({"tasks": [TASK, {**TASK, "season": "2023-24"}]})
    assert [gap.params["season"] for gap in found.gaps] == ["2024-25"]
    assert "was there before" in found.problems[0].told


def test_numbers_are_ids_too_and_priorities_have_any_case() -> None:
    [gap] = gaps_of({"tasks": [{**TASK, "id": 7, "priority": "low"}]}).gaps
    assert (gap.id, gap.priority) == ("7", Priority.LOW)


def test_an_entry_that_can_not_be_read_is_known_by_its_number_too() -> None:
    [problem] = gaps_of({"tasks": [{**TASK, "id": 7, "priority": "URGENT"}]}).problems
    assert problem.id == "7"


@pytest.mark.parametrize("document", [None, [], {}, {"tasks": {}}, {"tasks": None}, "tasks"])
def test_what_is_no_gaps_file_is_refused(document: Any) -> None:
    with pytest.raises(NotGaps):
        gaps_of(document)


def test_a_gap_is_the_same_whatever_it_is_called_and_however_urgent_it_is() -> None:
    [one] = gaps_of({"tasks": [TASK]}).gaps
    [renamed] = gaps_of({"tasks": [{**TASK, "id": "x", "priority": "LOW", "reason": "older"}]}).gaps
    [other] = gaps_of({"tasks": [{**TASK, "season": "2023-24"}]}).gaps
    assert one.fingerprint == renamed.fingerprint != other.fingerprint


def test_a_file_adds_up(tmp_path: Path) -> None:
    gaps = [
        Gap("a", Priority.LOW, "league", "one", {}, 2.5),
        Gap("b", Priority.HIGH, "cup", "two"),
        Gap("c", Priority.LOW, "league", "two", {}, 1.5),
    ]
    path = tmp_path / "inventory" / "gaps.json"
    write_gaps_file(path, gaps, "2026-01-01T00:00:00Z")
    found = read_gaps_file(path)
    assert found.generated_at == "2026-01-01T00:00:00Z"
    assert [gap.id for gap in found.gaps] == ["b", "a", "c"]
    document = document_of(gaps, "")
    assert document["total_tasks"] == 3
    assert document["by_priority"] == {"CRITICAL": 0, "HIGH": 1, "MEDIUM": 0, "LOW": 2}
    assert (document["by_source"], document["by_scraper"]) == ({"cup": 1, "league": 2}, {"one": 1, "two": 2})
    assert document["estimated_total_minutes"] == 4
    assert [each.name for each in path.parent.iterdir()] == ["gaps.json"]


def test_a_mark_in_front_of_a_file_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "gaps.json").write_bytes(b'\xef\xbb\xbf{"tasks": []}')
    assert read_gaps_file(tmp_path / "gaps.json").gaps == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"tasks": [{"id": "a"', "line 1"),
        (b"", "line 1"),
        (b'{"tasks": [{"id": NaN}]}', "line 1"),
        (b"[1]", "not a JSON object"),
        (b"\xff\xfe", "line 1"),
    ],
)
def test_a_file_that_is_none_says_where(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "gaps.json").write_bytes(content)
    with pytest.raises(InvalidInput, match="gaps.json") as caught:
        read_gaps_file(tmp_path / "gaps.json")
    assert told in str(caught.value)


def test_a_file_that_is_missing_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="gaps scan"):
        read_gaps_file(tmp_path / "gaps.json")
