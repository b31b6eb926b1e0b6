"""Tables for people: what does not fit is left out and said to be, never cut to something else."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest

from tarantella.cli.shown import show_lines, show_table
from tarantella.cli.terminal import Screen, Terminal

IDS = [f"01a1e6cd-79fe-7785-aaf7-c171de7a{number:04}" for number in range(3)]
ROWS: list[dict[str, Any]] = [
    {"id": each, "status": "partial", "counts": {"total": 1_234_567}, "of": each, "created_at": "2026-11-16T23:48:01Z"}
    for each in IDS
]
COLUMNS = {"task": "id", "status": "status", "items": "counts.total", "of": "of", "created": "created_at"}


def shown(width: int) -> tuple[list[str], str]:
    out, err = StringIO(), StringIO()
    terminal = Terminal(Screen(out, draws=False, width=width), Screen(err, draws=False), unicode=True, live=False)
    show_table(terminal, ROWS, COLUMNS, "nothing")
    return out.getvalue().splitlines(), err.getvalue()


@pytest.mark.parametrize("width", [200, 120, 100, 80, 60, 40])
def test_whatever_is_shown_is_shown_whole_within_the_width(width: int) -> None:
    [head, *lines], said = shown(width)
    assert len(lines) == len(ROWS)
    assert max(map(len, (head, *lines))) <= width
    assert [line.split()[0] for line in lines] == IDS
    for line in lines:
        assert "1234567" in line or "items" not in head
        assert "partial" in line or "status" not in head
    left_out = [name for name in COLUMNS if name not in head.split()]
    assert all(name in said for name in left_out)
    assert bool(said) == bool(left_out)


def test_ids_behind_the_first_are_short_where_that_makes_room() -> None:
    [_, line, *_], said = shown(100)
    assert (line.split()[3], said) == (IDS[0][-12:], "")


def test_even_the_first_column_is_cut_visibly_where_nothing_fits() -> None:
    [_, line, *_], _said = shown(20)
    assert "…" in line and len(line) <= 20


OVERVIEW: dict[str, Any] = {
    "version": "0.1.0",
    "started_at": "2026-11-16T23:48:01.457000Z",
    "networks": [f"10.{number}.0.0/16" for number in range(12)],
    "address": "https://example.com/" + "long-" * 20,
    "queue": {"pending_pages": 7},
    "workers": [{"id": each, "host": "a-machine", "pid": 4711, "condition": "working"} for each in IDS],
    "waiting": [{"run_id": IDS[0], "reason": "all 5 runs that may run at a time are running", "pending_pages": 7}],
}
TABLES = {"workers": {"machine": "host", "process": "pid", "worker": "id"}}


def lines_of(width: int) -> list[str]:
    out = StringIO()
    terminal = Terminal(
        Screen(out, draws=False, width=width), Screen(StringIO(), draws=False), unicode=True, live=False
    )
    show_lines(terminal, OVERVIEW, TABLES)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [120, 80, 60])
def test_an_overview_fits_the_width_and_has_all_of_it(width: int) -> None:
    lines = lines_of(width)
    assert all(len(line) <= width for line in lines if "https://" not in line)
    told = " ".join(" ".join(lines).split())
    for whole in (
        OVERVIEW["address"],
        ", ".join(OVERVIEW["networks"]),
        "pending_pages 7",
        OVERVIEW["waiting"][0]["reason"],
    ):
        assert whole in told
    [began] = [line for line in lines if line.startswith("started_at")]
    assert re.fullmatch(r"started_at +2026-11-\d\d \d\d:\d\d:\d\d", began)


def test_things_that_have_columns_are_a_table_of_their_own() -> None:
    lines = lines_of(80)
    at = lines.index("workers")
    assert lines[at + 1].split() == ["machine", "process", "worker"]
    assert [line.split() for line in lines[at + 2 : at + 5]] == [["a-machine", "4711", each] for each in IDS]
    assert all(line.startswith("  ") for line in lines[at + 1 : at + 5])


def test_where_there_is_no_width_each_thing_is_a_line() -> None:
    assert f"  run_id {IDS[0]}, reason {OVERVIEW['waiting'][0]['reason']}, pending_pages 7" in lines_of(100_000)
