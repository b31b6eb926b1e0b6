"""What the API says, as tables and lines for people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from tarantella.cli import words
from tarantella.cli.terminal import Terminal, grid

WIDEST_CELL = 60
GAP = 2
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?(Z|\+00:00)")


def show_table(terminal: Terminal, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], nothing: str) -> None:
    """One line each; a column is a name and where its value stands, as in `policy.per_host`."""
    if not rows:
        terminal.say(nothing)
        return
    cells = [[_cell(_at(row, place), terminal.ellipsis) for place in columns.values()] for row in rows]
    names, cells = _fitted(list(columns), cells, terminal.out.width, terminal.ellipsis)
    table = grid(*names)
    for each in cells:
        table.add_row(*each)
    terminal.show(table)
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


def show_lines(terminal: Terminal, what: Mapping[str, Any]) -> None:
    """All of it, one value a line, what belongs together under one name."""
    for line in _lines(what, ""):
        terminal.show(line)


def _lines(what: Mapping[str, Any], indent: str) -> Iterator[str]:
    width = max((len(name) for name in what), default=0)
    for name, value in what.items():
        if isinstance(value, Mapping) and value:
            yield f"{indent}{words.clean(name)}"
            yield from _lines(value, f"{indent}  ")
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield f"{indent}{words.clean(name)}"
            for each in value:
                yield f"{indent}  {', '.join(f'{words.clean(key)} {_plain(inner)}' for key, inner in each.items() if inner not in (None, []))}"
        else:
            yield f"{indent}{words.clean(name):<{width}}  {_plain(value)}".rstrip()


def _at(row: Mapping[str, Any], place: str) -> Any:
    value: Any = row
    for name in place.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _cell(value: Any, ellipsis: str) -> str:
    text = _plain(value)
    if _MOMENT.fullmatch(text) is not None:
        text = words.when(datetime.fromisoformat(text).timestamp())
    return words.shortened(text, WIDEST_CELL, ellipsis)


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
    return words.clean(str(value))
