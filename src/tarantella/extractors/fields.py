"""The values that a run asked for, found by their selectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ada_url
import turbohtml
from turbohtml import Document, Element, PlainText

from tarantella.domain.errors import InvalidInput
from tarantella.domain.spec import Field
from tarantella.domain.url import shown

# What one field may take from one page; a selector like `*` on a huge page must not fill the memory.
MAX_VALUES = 10_000
MAX_CHARACTERS = 1_000_000
_MAX_SELECTOR = 2_000
_ADDRESSES = frozenset({"href", "src"})
_NO_BULLETS = PlainText(bullet="")


def validate(fields: Sequence[Field]) -> None:
    """Refuse selectors that could never be used, before anything is fetched."""
    empty = turbohtml.parse("")
    for field in fields:
        if len(field.css) > _MAX_SELECTOR:
            raise _invalid(field, f"it is longer than {_MAX_SELECTOR} characters")
        try:
            empty.select(field.css)
        except (ValueError, RecursionError) as error:
            raise _invalid(field, str(error).rpartition('": ')[2]) from None


def _invalid(field: Field, problem: str) -> InvalidInput:
    return InvalidInput(
        f"The selector {shown(field.css)} of the field {field.name!r} is not CSS: {problem}.",
        remedy="Write one as in a style sheet, like '.price'; for an attribute, name=css@attribute.",
        field="fields",
    )


def select(document: Document, field: Field, base_url: str) -> str | list[str] | None:
    """What a field finds: a value, several as a list, or nothing.

    Addresses (`href`, `src`) come out absolute where the page's own address is known.
    """
    found = document.select(field.css)[:MAX_VALUES]
    if field.attr is None:
        values = _within_limits(found, _text)
    elif field.attr.lower() in _ADDRESSES:
        values = _within_limits(found, lambda element: absolute(base_url, element.attr(str(field.attr))))
    else:
        values = _within_limits(found, lambda element: element.attr(str(field.attr)))
    return values[0] if len(values) == 1 else values or None


def absolute(base_url: str, address: str | None) -> str | None:
    """An address as seen from a page; as written where that makes none, or the page's own is unknown."""
    if not address or not base_url:
        return address
    try:
        return ada_url.join_url(base_url, address)
    except (ValueError, UnicodeError):
        return address


def _within_limits(found: Sequence[Element], read: Callable[[Element], str | None]) -> list[str]:
    values: list[str] = []
    left = MAX_CHARACTERS
    for element in found:
        value = read(element)
        if value is None:
            continue
        if "\0" in value:
            value = value.replace("\0", "")
        values.append(value[:left])
        left -= len(value)
        if left <= 0:
            break
    return values


def _text(element: Element) -> str:
    # Without elements inside, the plain text will do. With some, "one<br>two" must not become "onetwo".
    if element.find() is None:
        text = element.text
    elif element.find("li") is None:
        text = element.to_text()
    else:
        text = element.to_text(_NO_BULLETS)
    return " ".join(text.split())
