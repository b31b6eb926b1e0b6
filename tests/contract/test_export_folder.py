"""Records as a folder of Markdown files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tarantella.domain.errors import InvalidInput
from tarantella.exporters.export import export

RECORD: dict[str, Any] = {
    "url": "http://site.test/a",
    "title": "Über das Weben: 1/2",
    "author": 'Ann "A" Weaver',
    "markdown": "Some **words**.",
    "fields": {"price": 4.5},
}


def test_each_record_is_a_file_with_what_is_known_of_it_at_its_head(tmp_path: Path) -> None:
    result = export(iter([RECORD, {"url": "http://site.test/b", "text": "one\ntwo"}]), "markdown", tmp_path / "out")
    assert result.count == 2
    first, second = sorted((tmp_path / "out").glob("*.md"))
    assert first.name == "000001-uber-das-weben-1-2.md"
    assert first.read_text() == (
        '---\ntitle: "Über das Weben: 1/2"\nurl: "http://site.test/a"\nauthor: "Ann \\"A\\" Weaver"\nfields: {"price":4.5}\n---\n\n'
        "# Über das Weben: 1/2\n\nSome **words**.\n"
    )
    assert second.read_text().endswith("---\n\none\n\ntwo\n")


def test_an_export_replaces_what_an_export_has_written_and_nothing_else(tmp_path: Path) -> None:
    export([RECORD, RECORD], "markdown", tmp_path / "out")
    export([RECORD], "markdown", tmp_path / "out")
    assert len(list((tmp_path / "out").glob("*.md"))) == 1
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.md").write_text("dear diary")
    (tmp_path / "file").write_text("x")
    for name in ("mine", "file", "missing/out"):
        with pytest.raises(InvalidInput):
            export([RECORD], "markdown", tmp_path / name)
    with pytest.raises(InvalidInput, match="stdout"):
        export([RECORD], "markdown", "-")
    assert (tmp_path / "mine" / "diary.md").read_text() == "dear diary"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "mine", "out"]


def test_a_failure_half_way_leaves_the_old_folder(tmp_path: Path) -> None:
    export([RECORD], "markdown", tmp_path / "out")

    def stream() -> Iterator[dict[str, Any]]:
        yield RECORD
        raise ConnectionResetError("gone")

    with pytest.raises(Exception, match="gone"):
        export(stream(), "markdown", tmp_path / "out")
    assert len(list((tmp_path / "out").glob("*.md"))) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_hostile_titles_stay_in_the_folder(tmp_path: Path) -> None:
    titles = ("../../etc/passwd", "a/b\\c", "\x00", "." * 300, "x" * 10_000, "日本", "\ud800")
    export([{"url": "u", "title": title} for title in titles], "markdown", tmp_path / "out")
    assert len(list((tmp_path / "out").glob("*.md"))) == len(titles)
