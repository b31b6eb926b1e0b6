"""Where records go is decided, and refused, before the crawl."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarantella.domain.errors import InvalidInput
from tarantella.domain.struct import replace
from tarantella.services.app import App
from tarantella.services.export import Target, exports_of, target_again, target_of, usual_path
from tarantella.services.target import remember, remembered


@pytest.mark.parametrize(
    ("format_name", "output", "target"),
    [
        (None, None, Target("jsonl")),
        ("csv", None, Target("csv")),
        (None, "-", Target("jsonl", "-")),
        ("csv", "-", Target("csv", "-")),
        (None, "out.CSV", Target("csv", Path("out.CSV"))),
        (None, "out.ndjson", Target("jsonl", Path("out.ndjson"))),
        (None, "out.sqlite3", Target("db", Path("out.sqlite3"))),
        (None, "out.md", Target("markdown", Path("out.md"))),
        (None, "out", Target("jsonl", Path("out"))),
        ("jsonl", "out.xlsx", Target("jsonl", Path("out.xlsx"))),
        ("json", "out.csv", Target("json", Path("out.csv"))),
    ],
)
def test_the_option_decides_then_the_name_of_the_file(
    app: App, format_name: str | None, output: str | None, target: Target
) -> None:
    assert target_of(app, format_name, output) == target


@pytest.mark.parametrize("output", ["out.xlsx", "records.csv.gz", "OUT.TXT"])
def test_a_file_whose_ending_nobody_writes_is_refused_before_the_crawl(app: App, output: str) -> None:
    with pytest.raises(InvalidInput, match="json, jsonl, csv, db, parquet and markdown.*name the format"):
        target_of(app, None, output)


@pytest.mark.parametrize(("format_name", "output"), [("parquet", None), ("parquet", "out.txt"), (None, "out.parquet")])
def test_parquet_without_its_library_is_refused_before_the_crawl(
    app: App, monkeypatch: pytest.MonkeyPatch, format_name: str | None, output: str | None
) -> None:
    monkeypatch.setattr("tarantella.exporters.as_parquet.find_spec", lambda _name: None)
    with pytest.raises(InvalidInput, match="pip install pyarrow"):
        target_of(app, format_name, output)


def test_a_run_that_goes_on_is_exported_in_the_format_that_it_had(app: App) -> None:
    path = usual_path(app, "some-run", "csv")
    path.parent.mkdir(parents=True)
    path.touch()
    assert target_of(app, None, None, run_id="some-run") == Target("csv")
    assert exports_of(app, "some-run") == [path]
    assert target_of(app, None, None, run_id="another-run") == Target("jsonl")


@pytest.mark.parametrize("target", [Target("csv", Path("out.txt")), Target("csv")])
def test_a_run_that_goes_on_is_exported_where_it_was_asked_for(app: App, target: Target) -> None:
    remember(app, "some-run", target)
    wanted = replace(target, destination=target.destination and Path(target.destination).absolute())
    assert target_again(app, "some-run", pytest.fail) == wanted
    [kept] = app.settings.exports_dir.iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert exports_of(app, "some-run") == []


def test_what_went_to_stdout_or_is_as_usual_is_not_remembered(app: App) -> None:
    for target in (Target(), Target("csv", "-")):
        remember(app, "some-run", target)
        assert remembered(app, "some-run") is None


def test_a_usual_target_takes_the_place_of_one_that_was_remembered(app: App) -> None:
    remember(app, "some-run", Target("csv"))
    remember(app, "some-run", Target())
    assert target_again(app, "some-run", pytest.fail) == Target()


def test_where_the_folder_is_gone_the_records_go_to_the_exports_with_a_note(app: App) -> None:
    notes: list[str] = []
    remember(app, "some-run", Target("csv", Path("gone/out.csv")))
    assert target_again(app, "some-run", notes.append) == Target("csv")
    assert "There is no folder" in notes[0]


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"format": "moon", "output": null}'])
def test_a_broken_memory_of_a_target_is_none(app: App, text: str) -> None:
    app.settings.exports_dir.mkdir(parents=True)
    (app.settings.exports_dir / "some-run.target.json").write_text(text)
    assert remembered(app, "some-run") is None


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
