"""What was typed becomes a value: text, a number, a path, one of a few words.

Typer would ask pydantic, and loading that takes longer than fetching a page. A kind that is not known here is left to Typer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer

from tarantella.cli.plain import wrapped
from tarantella.cli.terminal import line_width

Read = Callable[[Any], Any]  # gives the value, or raises ValueError with what is wrong


def understood(params: list[Any]) -> list[Any]:
    """The same parameters; those that are of a known kind are read here."""
    for param in params:
        info = param.type_descriptor.parameter_info
        read = _reader(param.type_descriptor.annotation, info.min, info.max)
        if read is not None and info.parser is None:
            param.get_runtime_param = partial(_Reader, read)
    return params


class _Reader:
    """Stands where Typer would have pydantic."""

    def __init__(self, read: Read) -> None:
        self._read = read

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        try:
            return self._read(value)
        except ValueError as error:
            raise _Unfit(str(error), ctx=ctx, param=param) from None


class _Unfit(typer.BadParameter):
    """What Typer says of it, in lines as our own errors have them."""

    def format_message(self) -> str:
        return "\n".join(wrapped(super().format_message(), line_width(sys.stderr) - len("Error: ")))


def _reader(annotation: Any, least: float | None, most: float | None) -> Read | None:
    if get_origin(annotation) is list:
        item = _reader(get_args(annotation)[0], least, most)
        return partial(_each, read=item) if item is not None else None
    if get_origin(annotation) is Literal:
        return partial(_choice, choices=get_args(annotation))
    if annotation is int or annotation is float:
        return partial(_number, kind=annotation, least=least, most=most)
    if annotation is Path:
        return _path
    return annotation if annotation in (str, bool) else None


def _each(values: Any, read: Read) -> list[Any]:
    return [read(value) for value in values]


def _choice(value: Any, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise ValueError(f"{value!r} is not one of {', '.join(choices)}.")
    return str(value)


def _path(value: str) -> Path:
    # It would be the current folder: most likely it comes from a variable that is not set, as in `--data-dir "$DIR"`.
    if not value:
        raise ValueError("it is empty. Give a path, or leave the option out.")
    return Path(value)


def _number(value: Any, kind: type[int] | type[float], least: float | None, most: float | None) -> float:
    try:
        number = kind(value)
    except ValueError:
        raise ValueError(f"{value!r} is not a {'whole ' if kind is int else ''}number.") from None
    if (least is not None and number < least) or (most is not None and number > most):
        raise ValueError(f"{value} is not in the range from {least:,} to {most:,}.")
    return number
