"""Tables for people: what does not fit is left out and said to be, never cut to something else."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest

from tarantella.cli.shown import show_table
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
