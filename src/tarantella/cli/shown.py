"""What the API says, as tables and lines for people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from tarantella.cli import words
from tarantella.cli.plain import wrapped
from tarantella.cli.terminal import Terminal, grid

WIDEST_CELL = 60
GAP = 2
INDENT = "  "
NARROWEST_VALUE = 20
NO_TABLES: Mapping[str, Mapping[str, str]] = {}
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?(Z|\+00:00)")


def show_table(terminal: Terminal, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], nothing: str) -> None:
    """One line each; a column is a name and where its value stands, as in `policy.per_host`."""
    if rows:
        _show_rows(terminal, rows, columns, 0)
    else:
        terminal.say(nothing)


def _show_rows(terminal: Terminal, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], indent: int) -> None:
    from rich.padding import Padding

    cells = [[_cell(_at(row, place), terminal.ellipsis) for place in columns.values()] for row in rows]
    names, cells = _fitted(list(columns), cells, terminal.out.width - indent, terminal.ellipsis)
    table = grid(*names)
    for each in cells:
        table.add_row(*each)
    terminal.show(Padding(table, (0, 0, 0, indent), expand=False))
    if left_out := list(columns)[len(names) :]:
        terminal.say(f"Without {', '.join(left_out)}, for which there is no room: --json has all of it.")


def _fitted(names: list[str], cells: list[list[str]], room: int, ellipsis: str) -> tuple[list[str], list[list[str]]]:
    """As many columns as there is room for, each as wide as what is in it: half a number is worse than none."""

    def wide(number: int) -> int:
        return max(len(names[number]), *(len(row[number]) for row in cells)) + GAP

    def width() -> int:
        return sum(map(wide, range(len(names)))) - GAP

    if width() > room:
        # Ids behind the first are there to be seen; in short they are those that `runs list` shows.
        cells = [
            [row[0], *(words.short_id(cell) if _ID.fullmatch(cell) else cell for cell in row[1:])] for row in cells
        ]
    while width() > room and len(names) > 1:
        names, cells = names[:-1], [row[:-1] for row in cells]
    if len(names) == 1:
        cells = [[words.shortened(row[0], room, ellipsis)] for row in cells]
    return names, cells


def show_lines(
    terminal: Terminal, what: Mapping[str, Any], tables: Mapping[str, Mapping[str, str]] = NO_TABLES
) -> None:
    """All of it, one value a line, what belongs together under one name. Things whose columns are given are a table."""
    wide = _widest(what)
    for name, value in what.items():
        if value and name in tables:
            terminal.show(words.clean(name))
            _show_rows(terminal, value, tables[name], len(INDENT))
        else:
            for line in _lines(name, value, "", wide, terminal.out.width):
                terminal.show(line)


def _widest(what: Mapping[str, Any]) -> int:
    return max((len(name) for name in what), default=0)


def _lines(name: str, value: Any, indent: str, wide: int, room: int) -> Iterator[str]:
    start = f"{indent}{words.clean(name)}"
    if isinstance(value, Mapping) and value:
        yield start
        for inner, of in value.items():
            yield from _lines(inner, of, indent + INDENT, _widest(value), room)
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        yield start
        for each in value:
            told = (f"{words.clean(key)} {_plain(inner)}" for key, inner in each.items() if inner not in (None, []))
            yield from _hanging(indent + INDENT, ", ".join(told), 2 * INDENT, room)
    else:
        beside = f"{start:<{len(indent) + wide}}  "
        yield from _hanging(beside, _plain(value), " " * len(beside), room)


def _hanging(start: str, text: str, margin: str, room: int) -> Iterator[str]:
    """A text that begins there; what has no room in the line goes on below it."""
    first, *others = wrapped(text, max(NARROWEST_VALUE, room - len(margin))) or [""]
    yield f"{start}{first}".rstrip()
    yield from (f"{margin}{line}" for line in others)


def _at(row: Mapping[str, Any], place: str) -> Any:
    value: Any = row
    for name in place.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _cell(value: Any, ellipsis: str) -> str:
    return words.shortened(_plain(value), WIDEST_CELL, ellipsis)


def _plain(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    if isinstance(value, list):
        return ", ".join(map(_plain, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{words.clean(name)} {_plain(inner)}" for name, inner in value.items()) or "none"
    text = str(value)
    return words.when(datetime.fromisoformat(text).timestamp()) if _MOMENT.fullmatch(text) else words.clean(text)
