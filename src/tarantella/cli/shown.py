"""What the API says, as tables and lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tarantella.cli import words
from tarantella.cli.terminal import Terminal, grid

WIDEST_CELL = 60


def show_table(terminal: Terminal, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], nothing: str) -> None:
    """One line each; a column is a name and where its value stands, as in `policy.per_host`."""
    if not rows:
        terminal.say(nothing)
        return
    table = grid(*columns)
    for row in rows:
        table.add_row(*(_cell(_at(row, place), terminal.ellipsis) for place in columns.values()))
    terminal.show(table)


def show_lines(terminal: Terminal, what: Mapping[str, Any]) -> None:
    """All of it, one value a line, what belongs together under one name."""
    for line in _lines(what, ""):
        terminal.show(line)


def _lines(what: Mapping[str, Any], indent: str) -> Iterator[str]:
    width = max((len(name) for name in what), default=0)
    for name, value in what.items():
        if isinstance(value, Mapping) and value:
            yield f"{indent}{name}"
            yield from _lines(value, f"{indent}  ")
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield f"{indent}{name}"
            for each in value:
                yield f"{indent}  {', '.join(f'{key} {_plain(inner)}' for key, inner in each.items() if inner not in (None, []))}"
        else:
            yield f"{indent}{name:<{width}}  {_plain(value)}".rstrip()


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
        return ", ".join(f"{name} {_plain(inner)}" for name, inner in value.items()) or "none"
    return words.clean(str(value))
