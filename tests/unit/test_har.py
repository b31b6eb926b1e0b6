"""HAR files: what matters in them is kept, whatever else they hold, and nothing in them is trusted."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tarantella.domain.errors import InvalidInput
from tarantella.services import har
from tarantella.services.har import exchanges_of, read_har
from tests.site import feed


def entry(text: str, **content: Any) -> dict[str, Any]:
    return {
        "request": {"method": "GET", "url": "https://a.example/api", "headers": [{"name": "X-A", "value": "1"}]},
        "response": {"status": 200, "headers": [], "content": {"text": text, **content}},
    }


def written(path: Path, *entries: Any) -> Path:
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": list(entries)}}))
    return path


def test_only_json_is_kept_and_survives_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "a.har"
    path.write_text(json.dumps(feed.har("https://a.example", "graphql", 2)))
    slim = read_har(path)
    assert len(slim["log"]["entries"]) == 2
    kept = [each for each in exchanges_of(feed.har("https://a.example", "graphql", 2)) if each.body != b"<html>"]
    assert exchanges_of(slim) == kept


def test_base64_is_decoded_and_what_is_none_is_left_out(tmp_path: Path) -> None:
    packed = base64.b64encode('{"a": "ä"}'.encode()).decode()
    path = written(tmp_path / "a.har", entry(packed, encoding="base64"), entry("!!", encoding="base64"))
    [found] = exchanges_of(read_har(path))
    assert json.loads(found.body) == {"a": "ä"}


@pytest.mark.parametrize("text", ["", "not json", "[]", '{"log": 1}', '{"log": {"entries": {}}}', "[" * 5_000])
def test_what_is_no_har_is_refused_with_what_to_do(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.har"
    path.write_text(text)
    with pytest.raises(InvalidInput, match="HAR"):
        read_har(path)


def test_a_file_that_is_not_there_or_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="can't be read"):
        read_har(tmp_path / "nowhere.har")
    monkeypatch.setattr(har, "MAX_FILE", 10)
    with pytest.raises(InvalidInput, match="larger"):
        read_har(written(tmp_path / "a.har"))


def test_of_very_much_traffic_only_the_beginning_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(har, "MAX_KEPT", 10_000)
    path = written(tmp_path / "a.har", *[entry(json.dumps({"a": "x" * 1_000}))] * 50)
    assert 5 <= len(read_har(path)["log"]["entries"]) <= 10


@pytest.mark.parametrize(
    "broken",
    [
        None,
        7,
        {},
        {"request": None},
        {"request": {"method": 1, "url": 2}, "response": {"status": "x"}},
        entry("{}") | {"response": 0},
    ],
)
def test_broken_entries_are_passed_over(broken: Any) -> None:
    assert exchanges_of({"log": {"entries": [broken]}}) == []
