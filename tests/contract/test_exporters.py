"""What every format promises, tried on each that is registered."""

from __future__ import annotations

import csv
import json
import os
import resource
import sqlite3
import stat
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from hashlib import shake_128
from pathlib import Path
from typing import Any

import pytest

from tarantella import crashpoints
from tarantella.domain.errors import InvalidInput, StoreError, TarantellaError
from tarantella.exporters import EXPORTERS
from tarantella.exporters.columns import BASIC, field_columns
from tarantella.exporters.export import export, format_of

Row = dict[str, Any]


def record(number: int = 1, **more: Any) -> Row:
    return {
        "url": f"http://site.test/{number}",
        "final_url": f"http://site.test/{number}",
        "title": f"Page {number}",
        "description": None,
        "language": "en",
        "links": number,
        "depth": 1,
        "status": 200,
        "content_type": "text/html",
        "fetched_at": "2026-01-02T03:04:05.678+00:00",
        "elapsed_ms": 12.5,
        "bytes": 19_000,
        **more,
    }


def noise(seed: int, length: int) -> str:
    """Text that does not get shorter when it is compressed by more than half."""
    return shake_128(str(seed).encode()).hexdigest(length)


def read_json(path: Path) -> list[Row]:
    return list(json.loads(path.read_bytes()))


def read_jsonl(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def read_csv(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))


def read_db(path: Path) -> list[Row]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute("SELECT * FROM records ORDER BY rowid")]


def read_parquet(path: Path) -> list[Row]:
    import pyarrow.parquet

    rows: list[Row] = pyarrow.parquet.read_table(path).to_pylist()
    return rows


# A new format adds its reader here, or these tests don't start.
READERS: Mapping[str, Callable[[Path], list[Row]]] = {
    "json": read_json,
    "jsonl": read_jsonl,
    "csv": read_csv,
    "db": read_db,
    "parquet": read_parquet,
}
FORMATS = pytest.mark.parametrize("form", EXPORTERS)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in which nothing but what was asked for is left behind."""
    place = tmp_path / "out"
    place.mkdir()
    yield place
    assert [
        path.name for path in place.iterdir() if path.suffix not in {".json", ".jsonl", ".csv", ".db", ".parquet"}
    ] == []


def urls(form: str, path: Path) -> list[str]:
    return [row["url"] for row in READERS[form](path)]


@FORMATS
def test_no_records_make_a_valid_file(form: str, folder: Path) -> None:
    result = export([], form, folder / f"x.{form}")
    assert result.count == 0 and result.path is not None
    assert READERS[form](result.path) == []


@FORMATS
def test_one_record_is_read_back(form: str, folder: Path) -> None:
    path = folder / f"x.{form}"
    result = export(iter([record()]), form, str(path))
    assert (result.path, result.count, result.bytes) == (path, 1, path.stat().st_size)
    (row,) = READERS[form](path)
    assert (row["url"], row["title"], int(row["links"])) == ("http://site.test/1", "Page 1", 1)


@FORMATS
def test_the_name_of_a_file_tells_its_format(form: str) -> None:
    assert format_of(f"some/Where.{EXPORTERS[form].extension.upper()}") == form
    assert format_of("somewhere") is None


AWKWARD = [
    "naïve – 日本語 🕷",
    'quo"te, comma; tab\there',
    "line\nbreak\r\nand\rmore",
    "\u2028\u2029\x85",
    "'",
    "",
    " ",
    "\\",
    "NULL",
]


@FORMATS
@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_text_is_read_back_as_it_was(form: str, text: str, folder: Path) -> None:
    path = folder / f"x.{form}"
    export([record(title=text, fields={"f": text}), record(2)], form, path)
    rows = READERS[form](path)
    assert rows[0]["title"] == text and rows[1]["url"] == "http://site.test/2"
    assert (rows[0]["fields"]["f"] if "fields" in rows[0] else rows[0]["f"]) == text


def deep(levels: int) -> list[Any]:
    nest: list[Any] = []
    for _ in range(levels):
        nest = [nest]
    return nest


UNEXPECTED = {
    "not a number": float("nan"),
    "endless": float("-inf"),
    "more than 63 bits": 2**63,
    "less than 64 bits": -(2**70),
    "thousands of digits": 1 << 20_000,
    "half a character": "\ud800 half",
    "halves as keys": {"\udfff": ["\ud83d"]},
    "keys that are no text": {1: 2, None: 3},
    "a set": {"x", "y"},
    "a tuple": (1, 2),
    "bytes": b"bytes",
    "an object": object(),
    "NUL": "a\0b",
    "a truth": True,
    "very deep": deep(10_000),
}


@FORMATS
@pytest.mark.parametrize("what", UNEXPECTED)
def test_no_value_breaks_an_export(form: str, what: str, folder: Path) -> None:
    value = UNEXPECTED[what]
    path = folder / f"x.{form}"
    export([record(title=value, fields={"f": value, "g": [value]}, data=value), record(2)], form, path)
    assert urls(form, path) == ["http://site.test/1", "http://site.test/2"]


@FORMATS
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_not_a_number_is_nothing(form: str, number: float, folder: Path) -> None:
    export([record(elapsed_ms=number)], form, folder / f"x.{form}")
    (row,) = READERS[form](folder / f"x.{form}")
    assert row["elapsed_ms"] in (None, "")


@FORMATS
def test_what_is_missing_from_a_record_does_not_break_an_export(form: str, folder: Path) -> None:
    path = folder / f"x.{form}"
    export([{"url": "http://a/"}, {"url": "http://b/", "fields": None}], form, path, fields=["f"])
    assert urls(form, path) == ["http://a/", "http://b/"]


@pytest.mark.slow
@FORMATS
def test_records_are_taken_one_at_a_time_and_memory_stays_small(form: str, folder: Path) -> None:
    path = folder / f"x.{form}"
    sizes: list[int] = []

    def stream() -> Iterator[Row]:
        for number in range(10_000):
            if number == 9_000:
                # What was given long ago is already on its way to the disk.
                sizes.extend(left.stat().st_size for left in folder.iterdir())
            yield record(number, text=noise(number, 700), fields={"f": number})

    tracemalloc.start()
    try:
        result = export(stream(), form, path, fields=["f"])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.count == 10_000 and result.bytes > 10_000_000
    assert peak < 4_000_000
    assert sizes[0] > result.bytes // 2
    assert urls(form, path) == [f"http://site.test/{number}" for number in range(10_000)]


@FORMATS
def test_a_failure_half_way_leaves_the_old_file_and_nothing_else(form: str, folder: Path) -> None:
    path = folder / f"x.{form}"
    export([record()], form, path)
    before = path.read_bytes()

    def stream() -> Iterator[Row]:
        yield from (record(number) for number in range(5_000))
        raise ConnectionResetError("the store went away")

    with pytest.raises(TarantellaError, match="the store went away"):
        export(stream(), form, path)
    assert path.read_bytes() == before
    assert list(folder.iterdir()) == [path]


@FORMATS
def test_an_interrupt_leaves_nothing_behind(form: str, folder: Path) -> None:
    def stream() -> Iterator[Row]:
        yield record()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(stream(), form, folder / f"x.{form}")
    assert list(folder.iterdir()) == []


@FORMATS
def test_an_old_file_is_replaced_at_once_and_keeps_its_permissions(form: str, folder: Path) -> None:
    path = folder / f"x.{form}"
    path.write_bytes(b"old")
    path.chmod(0o600)
    during: list[bytes] = []

    def stream() -> Iterator[Row]:
        yield record(1)
        during.append(path.read_bytes())
        yield record(2)

    export(stream(), form, path)
    assert during == [b"old"]
    assert len(urls(form, path)) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@FORMATS
def test_a_link_is_followed_and_stays_a_link(form: str, folder: Path) -> None:
    real, link = folder / f"real.{form}", folder / f"link.{form}"
    link.symlink_to(real)
    export([record()], form, link)
    assert link.is_symlink() and len(urls(form, real)) == 1


@contextmanager
def nobody() -> Iterator[None]:
    """Root may write everywhere, so for a moment be somebody else."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@FORMATS
def test_a_folder_that_may_not_be_written_is_explained(form: str, folder: Path) -> None:
    folder.chmod(0o555)
    try:
        with nobody(), pytest.raises((InvalidInput, StoreError)) as refused:
            export([record()], form, folder / f"x.{form}")
    finally:
        folder.chmod(0o755)
    assert "permitted" in str(refused.value) and refused.value.remedy and refused.value.__cause__ is not None


@FORMATS
@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("missing/x", "folder does not exist"),
        ("file.json/x", "not a folder"),
        ("", "is a folder"),
        ("n" * 300, "too long"),
        ("a\0b", "not the name of a file"),
    ],
)
def test_an_impossible_destination_is_explained(form: str, place: str, words: str, folder: Path) -> None:
    (folder / "file.json").touch()
    with pytest.raises(InvalidInput, match=words):
        export([record()], form, f"{folder}/{place}")


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """As good as a full disk, and nothing else on the machine notices."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@FORMATS
def test_a_disk_without_space_is_explained_and_the_old_file_stays(form: str, folder: Path) -> None:
    path = folder / f"x.{form}"
    export([record()], form, path)
    before = path.read_bytes()
    with no_file_larger_than(200_000), pytest.raises(StoreError, match=r"full|larger") as refused:
        export((record(number, text=noise(number, 500)) for number in range(5_000)), form, path)
    assert refused.value.remedy is not None
    assert path.read_bytes() == before and list(folder.iterdir()) == [path]


@FORMATS
def test_stdout_takes_what_is_written_from_front_to_back(
    form: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    if EXPORTERS[form].needs_file:
        with pytest.raises(InvalidInput, match="stdout") as refused:
            export([record()], form, "-")
        assert refused.value.remedy
        return
    result = export([record()], form, "-")
    written = capfdbinary.readouterr().out
    assert (result.path, result.count, result.bytes) == (None, 1, len(written))
    copy = tmp_path / f"x.{form}"
    copy.write_bytes(written)
    assert urls(form, copy) == ["http://site.test/1"]


@FORMATS
def test_a_pipe_is_written_to_and_not_replaced(form: str, folder: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    if EXPORTERS[form].needs_file:
        with pytest.raises(InvalidInput):
            export([record()], form, pipe)
    else:
        copy = folder / f"x.{form}"
        reader = threading.Thread(target=lambda: copy.write_bytes(pipe.read_bytes()), daemon=True)
        reader.start()
        export([record()], form, pipe)
        reader.join(10)
        assert urls(form, copy) == ["http://site.test/1"]
    assert pipe.is_fifo()


def test_an_unknown_format_is_named_with_those_that_exist(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="xlsx.*json, jsonl, csv, db"):
        export([], "xlsx", folder / "x")


CRASHER = """
import sys
from tarantella.exporters.export import export
export(({"url": f"http://site.test/{n}"} for n in range(3_000)), sys.argv[1], sys.argv[2])
"""


@FORMATS
@pytest.mark.parametrize(("at", "count"), [(1, 1), (2, 3_000)])
def test_a_power_cut_leaves_the_old_file_or_the_new_and_the_next_export_tidies_up(
    form: str, at: int, count: int, folder: Path
) -> None:
    path = folder / f"x.{form}"
    export([record()], form, path)
    environment = {**os.environ, "TARANTELLA_CRASH_AT": str(at), "TARANTELLA_CRASH_NAME": "export."}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    child = subprocess.run([sys.executable, "-c", CRASHER, form, str(path)], env=environment, timeout=60, check=False)
    assert child.returncode == crashpoints.EXIT_CODE
    assert len(urls(form, path)) == count
    export([record()], form, path)
    assert list(folder.iterdir()) == [path]


@FORMATS
def test_two_exports_to_one_place_do_not_disturb_each_other(form: str, folder: Path) -> None:
    path = folder / f"x.{form}"

    def outer() -> Iterator[Row]:
        yield record(1)
        export([record(7)], form, path)
        assert urls(form, path) == ["http://site.test/7"]
        yield record(2)

    export(outer(), form, path)
    assert urls(form, path) == ["http://site.test/1", "http://site.test/2"]


# --- what single formats promise beyond that ---


def test_lines_of_json_are_the_records_as_they_came(folder: Path) -> None:
    rows = [record(1, text="x", word_count=1, fields={"price": ["1", "2"]}), record(2)]
    export(rows, "jsonl", folder / "x.jsonl")
    lines = (folder / "x.jsonl").read_text().splitlines()
    assert [list(json.loads(line)) for line in lines] == [list(row) for row in rows]
    assert [json.loads(line) for line in lines] == rows
    assert lines[0].startswith('{"url":')


def test_a_table_has_the_same_columns_whatever_is_in_it(folder: Path) -> None:
    for name, rows in (("a", []), ("b", [record(fields={"price": "5", "other": "x"})])):
        export(rows, "csv", folder / f"{name}.csv", fields=["price"])
        with (folder / f"{name}.csv").open(newline="") as file:
            assert next(csv.reader(file)) == [*BASIC, "data", "price"]


def test_the_fields_of_the_first_record_are_columns_unless_told_otherwise(folder: Path) -> None:
    export(iter([record(fields={"price": "5", "tags": ["a", "b"]}), record(2)]), "csv", folder / "x.csv")
    rows = read_csv(folder / "x.csv")
    assert [(row["price"], row["tags"]) for row in rows] == [("5", '["a","b"]'), ("", "")]


def test_a_field_gets_a_prefix_only_where_its_name_is_taken() -> None:
    assert field_columns(["price", "title", "Title", "field_title", "data", "", "a\0b"]) == {
        "price": "price",
        "title": "field_title",
        "Title": "field_field_Title",
        "field_title": "field_field_field_title",
        "data": "field_data",
        "": "field_",
        "a\0b": "ab",
    }


FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "  =1",
    "\n=cmd",
    "\rx",
    "＝1",
    '=LINK("http://x")',
]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(text: str, folder: Path) -> None:
    export([record(title=text, fields={text: text})], "csv", folder / "x.csv")
    (row,) = read_csv(folder / "x.csv")
    assert row["title"] == "'" + text and row["'" + text] == "'" + text


def test_numbers_and_ordinary_text_get_none(folder: Path) -> None:
    export([record(title="a=b", links=-5, elapsed_ms=-1.5, description="x - y")], "csv", folder / "x.csv")
    (row,) = read_csv(folder / "x.csv")
    assert (row["title"], row["links"], row["elapsed_ms"], row["description"]) == (
        "a=b",
        "-5",
        "-1.5",
        "x - y",
    )


def test_lines_of_a_table_end_as_the_standard_says(folder: Path) -> None:
    export([record(title='say "hi"')], "csv", folder / "x.csv")
    content = (folder / "x.csv").read_bytes()
    assert content.count(b"\r\n") == 2 and content.endswith(b"\r\n") and b'"say ""hi"""' in content


def test_a_database_has_typed_columns_and_the_whole_record(folder: Path) -> None:
    rows = [record(1, fields={"price": "5", "tags": ["a"], 'od"d': "x", "title": "T"}, data={"a": 1})]
    export(rows, "db", folder / "x.db")
    (row,) = read_db(folder / "x.db")
    assert (row["status"], row["elapsed_ms"], row["description"]) == (200, 12.5, None)
    assert (row["price"], row["tags"], row['od"d'], row["field_title"], row["title"]) == (
        "5",
        '["a"]',
        "x",
        "T",
        "Page 1",
    )
    assert json.loads(row["data"]) == rows[0]


def test_more_fields_than_a_database_has_columns_are_explained(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="jsonl"):
        export([record()], "db", folder / "x.db", fields=[f"f{n}" for n in range(2_000)])
    assert list(folder.iterdir()) == []


def test_every_format_has_a_reader_here() -> None:
    assert set(READERS) == set(EXPORTERS)
    assert len({exporter.extension for exporter in EXPORTERS.values()}) == len(EXPORTERS)


def test_numbers_in_fields_stay_numbers_in_a_database(tmp_path: Path) -> None:
    records = [{"url": f"https://a.example/{price}", "fields": {"price": price}} for price in (9, 40_040.99, 100)]
    export(iter(records), "db", tmp_path / "prices.db", fields=["price"])
    with closing(sqlite3.connect(tmp_path / "prices.db")) as database:
        sorted_ = database.execute("SELECT price, typeof(price) FROM records ORDER BY price DESC").fetchall()
    assert sorted_ == [(40_040.99, "real"), (100, "integer"), (9, "integer")]
