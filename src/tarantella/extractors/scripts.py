"""The JSON that pages carry in their scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson
from turbohtml import Document

MAX_SCRIPTS = 200
MAX_CHARACTERS = 5_000_000
_MOST_ASSIGNMENTS = 50
# `window.state = {…}`, `var data = […]`: what follows the sign may be JSON, or a program.
_ASSIGNED = re.compile(r"=\s*(?=[{\[])")
_QUOTED = re.compile(r"""JSON\.parse\(\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""", re.DOTALL)
_TRAILING_COMMA = re.compile(r",\s*([}\]])")
_COMMENT = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)|(?:-->|//\s*\]\]>|/\*\s*\]\]>\s*\*/|\]\]>)\s*$"
)
_CONTROL = re.compile(r"[\x00-\x1f]+")
# Of an escaped character that needs two, only one; those before it are passed over as they come.
_HALF = re.compile(
    r"\\(?:u[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}|(u[Dd][89A-Fa-f][0-9A-Fa-f]{2})|.)", re.DOTALL
)
_DECODER = json.JSONDecoder(strict=False)


def json_in_scripts(html: Document) -> Iterator[Any]:
    """Each JSON value in the scripts of a page: those that are nothing else first."""
    others: list[str] = []
    for script in html.select("script")[:MAX_SCRIPTS]:
        text = script.text
        if not text or len(text) > MAX_CHARACTERS:
            continue
        if "json" in (script.attr("type") or "").lower():
            value = parse_json(text)
            if value is not None:
                yield value
        elif not script.attr("src"):
            others.append(text)
    for text in others:
        yield from json_in_program(text)


def json_in_program(text: str) -> Iterator[Any]:
    """The JSON values that a script assigns."""
    text = _without_halves(text)
    end = 0
    for count, found in enumerate(_ASSIGNED.finditer(text)):
        if count >= _MOST_ASSIGNMENTS:
            break
        if found.start() < end:
            continue  # within a value that was read already
        try:
            value, end = _DECODER.raw_decode(text, found.end())
        except (ValueError, RecursionError):
            continue
        yield value
    for found in _QUOTED.finditer(text):
        literal = found[1]
        if literal.startswith("'"):
            literal = '"' + literal[1:-1].replace('"', '\\"').replace("\\'", "'") + '"'
        inner = parse_json(literal)
        if isinstance(inner, str) and (value := parse_json(inner)) is not None:
            yield value


def parse_json(text: str) -> Any:
    """The value of a JSON text, also of one that has the usual mistakes; None where nothing can be made of it."""
    try:
        return orjson.loads(text)
    except ValueError:
        pass
    # What people get wrong in JSON that they write by hand or by template.
    mended = _TRAILING_COMMA.sub(r"\1", _COMMENT.sub("", _without_halves(text)).strip().rstrip(";"))
    try:
        return orjson.loads(mended)
    except ValueError:
        pass
    try:
        value, _ = _DECODER.raw_decode(_CONTROL.sub(" ", mended).lstrip())
    except (ValueError, RecursionError):
        return None
    return value


def _without_halves(text: str) -> str:
    """The same with U+FFFD in the place of each half of a character, which could not be written anywhere."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _HALF.sub(lambda found: "\\ufffd" if found[1] else found[0], text)
