"""Where records go is decided, and refused, before the crawl."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarantella.domain.errors import InvalidInput
from tarantella.services.app import App
from tarantella.services.export import Target, exports_of, target_of, usual_path


@pytest.mark.parametrize(
    ("format_name", "output", "target"),
    [
        (None, None, Target("jsonl")),
        ("csv", None, Target("csv")),
        (None, "-", Target("jsonl", "-")),
        ("csv", "-", Target("csv", "-")),
        (None, "out.CSV", Target("csv", Path("out.CSV"))),
        (None, "out.txt", Target("jsonl", Path("out.txt"))),
        ("json", "out.csv", Target("json", Path("out.csv"))),
    ],
)
def test_the_option_decides_then_the_name_of_the_file(
    app: App, format_name: str | None, output: str | None, target: Target
) -> None:
    assert target_of(app, format_name, output) == target


def test_a_run_that_goes_on_is_exported_in_the_format_that_it_had(app: App) -> None:
    path = usual_path(app, "some-run", "csv")
    path.parent.mkdir(parents=True)
    path.touch()
    assert target_of(app, None, None, run_id="some-run") == Target("csv")
    assert exports_of(app, "some-run") == [path]
    assert target_of(app, None, None, run_id="another-run") == Target("jsonl")


def test_the_file_with_the_addresses_is_never_overwritten(app: App) -> None:
    Path("urls.txt").write_text("https://example.com/\n")
    with pytest.raises(InvalidInput, match="has the addresses"):
        target_of(app, None, "./urls.txt", not_to="urls.txt")


@pytest.mark.parametrize("output", ["", ".", "/", "no/such/folder/x.jsonl", "folder"])
def test_what_can_not_be_a_file_is_refused(app: App, output: str) -> None:
    Path("folder").mkdir()
    with pytest.raises(InvalidInput, match="--output"):
        target_of(app, None, output)


@pytest.mark.parametrize("name", ["tarantella.db", "tarantella.db-wal", "server.json", "server.lock", "schema.lock"])
def test_our_own_files_are_never_overwritten(app: App, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data_dir = app.settings.data_dir
    data_dir.mkdir(exist_ok=True)
    with pytest.raises(InvalidInput, match="own"):
        target_of(app, None, str(data_dir / name))
    monkeypatch.chdir(data_dir)
    with pytest.raises(InvalidInput, match="own"):
        target_of(app, "csv", name)
    assert target_of(app, None, str(data_dir / "records.db")).format == "db"


def test_a_name_that_no_file_can_have_is_refused_before_the_crawl(app: App) -> None:
    with pytest.raises(InvalidInput, match="longer than file systems take"):
        target_of(app, None, "x" * 400)
