"""Looking for gaps in a folder: what is counted, what is written, and when nothing is."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from tarantella.domain.errors import InvalidInput
from tarantella.services import gaps
from tarantella.services.gaps import Scan, scan, write_scan
from tarantella.services.gaps_file import read_gaps_file
from tarantella.services.inventory.contract import Found

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OUTPUT = Path("inventory/gaps.json")


def expect(types: dict[str, Any], partitions: Any = None, **more: Any) -> None:
    source = {"partitions": partitions or {"seasons": ["2023-24", "2024-25"]}, "data_types": types, **more}
    Path("config").mkdir(exist_ok=True)
    Path("config/expected_coverage.yaml").write_text(yaml.safe_dump({"expected_coverage": {"league": source}}))


def put(*names: str, days_old: float = 0) -> None:
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
        modified = (NOW - timedelta(days=days_old)).timestamp()
        os.utime(path, (modified, modified))


def found(now: datetime = NOW) -> Scan:
    return scan(None, ".", now)


def table(of: Scan) -> dict[str | None, tuple[int, int, str]]:
    return {each.partition: (each.present, each.expected, each.state) for each in of.coverage}


def test_a_scan_finds_what_is_missing_the_most_urgent_first() -> None:
    expect({"games": {"path_patterns": ["raw/{season}/*.json"], "expected_per_partition": 2, "freshness_days": 7}})
    put("raw/2024-25/1.json", "raw/2024-25/2.json", days_old=30)
    put("raw/2023-24/1.json", "raw/other/1.json")
    result = found()
    assert table(result) == {"2023-24": (1, 2, "partial"), "2024-25": (2, 2, "stale")}
    assert [(gap.params["season"], gap.priority.name) for gap in result.gaps] == [
        ("2024-25", "CRITICAL"),
        ("2023-24", "MEDIUM"),
    ]
    assert result.files == 3


def test_a_gap_that_was_filled_is_gone_from_the_file() -> None:
    expect({"rosters": {"path_patterns": ["r/{season}/{key}.json"], "expected_keys": ["bos", "lal"]}})
    put("r/2023-24/bos.json", "r/2023-24/lal.json")
    assert write_scan(found(), OUTPUT)
    [gap] = read_gaps_file(OUTPUT).gaps
    assert gap.params == {"season": "2024-25", "data_type": "rosters", "missing_keys": ["bos", "lal"]}
    put("r/2024-25/bos.json", "r/2024-25/lal.json")
    assert write_scan(found(), OUTPUT)
    assert read_gaps_file(OUTPUT).gaps == []


def test_two_scans_write_the_same_but_for_their_time() -> None:
    expect({"games": {"path_patterns": ["raw/{season}/{key}_*.json"], "expected_keys": list(range(300))}})
    put(*(f"raw/2024-25/{number}_x.json" for number in range(0, 300, 7)))
    written = []
    for minutes in (0, 5):
        assert write_scan(found(NOW + timedelta(minutes=minutes)), OUTPUT)
        written.append(json.loads(OUTPUT.read_text()))
    assert written[0].pop("generated_at") != written[1].pop("generated_at")
    assert written[0] == written[1] and len(written[0]["tasks"]) == 2


def test_a_file_that_several_patterns_mean_is_counted_once() -> None:
    patterns = ["raw/{season}/*.json", "raw/**/{season}/a*", "raw/{season}/**", "*/{season}/*"]
    expect({"games": {"path_patterns": patterns, "expected_per_partition": 3}})
    put("raw/2024-25/a.json", "raw/2024-25/b.json", "raw/x/2024-25/a.csv", "raw/2024-25/x/c.json")
    assert table(found())["2024-25"] == (4, 3, "complete")
    [_, current] = found().coverage
    assert (current.files, current.surplus) == (4, 1)


def test_types_that_share_a_folder_each_have_their_own() -> None:
    expect(
        {
            "games": {"path_patterns": ["raw/game_{season}_*.json"], "expected_per_partition": 2},
            "teams": {"path_patterns": ["raw/team_{season}_*.json"], "expected_per_partition": 1},
        }
    )
    put("raw/game_2024-25_1.json", "raw/game_2024-25_2.json", "raw/team_2024-25_1.json", "raw/game_2023-24_1.json")
    assert [(each.data_type, each.partition, each.present) for each in found().coverage] == [
        ("games", "2023-24", 1),
        ("games", "2024-25", 2),
        ("teams", "2023-24", 0),
        ("teams", "2024-25", 1),
    ]


def test_days_end_where_the_clock_says() -> None:
    expect({"news": {"path_patterns": ["{day:%Y/%m/%d}/*.json"]}}, {"days": {"last": 2}})
    put("2026/02/28/a.json")
    result = found()
    assert table(result) == {"2026-02-28": (1, 1, "complete"), "2026-03-01": (0, 1, "missing")}
    assert [gap.priority.name for gap in result.gaps] == ["HIGH"]


def test_what_is_still_to_come_is_not_missing() -> None:
    expect({"news": {"path_patterns": ["{day}.json"]}}, {"days": {"from": "2026-03-02"}})
    assert (found().coverage, found().gaps) == ([], [])


def test_what_is_being_written_is_not_there() -> None:
    expect({"games": {"path_patterns": ["raw/{season}/*"]}})
    put("raw/2024-25/a.json.part", "raw/2024-25/b.tmp")
    assert table(found())["2024-25"] == (0, 1, "missing")


def test_where_it_can_not_look_it_leaves_the_gaps_as_they_were(tmp_path: Path) -> None:
    expect({"games": {"path_patterns": ["raw/{season}/*.json"]}})
    assert write_scan(found(), OUTPUT)
    before = OUTPUT.read_bytes()
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    Path("raw").mkdir()
    Path("raw/2024-25").symlink_to(elsewhere)
    result = found()
    assert len(result.problems) == 1 and not write_scan(result, OUTPUT)
    assert OUTPUT.read_bytes() == before
    assert write_scan(result, OUTPUT, anyway=True) and OUTPUT.read_bytes() != b""


def test_only_files_that_are_meant_are_a_problem(tmp_path: Path) -> None:
    expect({"games": {"path_patterns": ["raw/{season}/*.json"]}})
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.write_text("{}")
    put("raw/2024-25/a.json")
    Path("raw/2024-25/readme.txt").symlink_to(outside)
    assert found().problems == []
    Path("raw/2024-25/b.json").symlink_to(outside)
    assert found().problems == ["raw/2024-25/b.json: a link leads out of the inventory, and is not followed"]
    assert table(found())["2024-25"] == (1, 1, "complete")


def test_more_than_can_be_looked_at_is_refused() -> None:
    types = {f"type{number}": {"path_patterns": ["{day}.json"]} for number in range(4)}
    expect(types, {"days": {"from": "1930-01-01"}})
    with pytest.raises(InvalidInput, match="more than 100,000 partitions"):
        found()


def test_a_million_files_take_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    class Many:
        name = "many"
        problems = ()

        def list(self, folder: str, depth: int | None) -> Iterator[Found]:
            return (Found(f"{folder}/{number}.json", 10, 0.0) for number in range(30_000))

    monkeypatch.setattr(gaps, "inventory_at", lambda place: Many())
    expect({"games": {"path_patterns": ["raw/{season}/*.json"], "expected_per_partition": 30_000}})
    tracemalloc.start()
    try:
        assert found().files == 60_000
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
