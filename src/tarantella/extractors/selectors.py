"""What a field's selectors choose on a page: raw values, before anybody asks what type they are of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import ada_url
import turbohtml
from turbohtml import Document, Element, Node, PlainText, Text

from tarantella.domain.errors import InvalidInput
from tarantella.domain.field import MAX_SELECTOR, Field
from tarantella.domain.url import shown
from tarantella.extractors.scripts import json_in_program, parse_json
from tarantella.extractors.subject import Root, Subject, is_element

if TYPE_CHECKING:
    import jmespath.parser

# What one field may take from one page; a selector like `*` on a huge page must not fill the memory.
MAX_VALUES = 10_000
MAX_CHARACTERS = 1_000_000
_ADDRESSES = frozenset({"href", "src"})
_NO_BULLETS = PlainText(bullet="")
# Paths within conditions are walked again for every element: on a large page that can take for ever.
_WALKS_AGAIN = re.compile(r"\[[^\[\]]*(?:/|::|\.\.)|following|preceding|\bid\(|(?://.*){4}", re.DOTALL)
_LOOKS_BACK = re.compile(r":has\(|:nth-(?:last-)?child\([^)]*\bof\b", re.IGNORECASE)


def validate(field: Field) -> None:
    """Refuse selectors that could never be used, before anything is fetched."""
    for kind, text in field.selectors.items():
        if len(text) > MAX_SELECTOR:
            raise _invalid(field, kind, f"it is longer than {MAX_SELECTOR} characters")
        try:
            _CHECKS[kind](text)
        except (ValueError, RecursionError) as error:
            raise _invalid(field, kind, _problem(error)) from None
    for nested in field.fields:
        validate(nested)


def _check_regex(text: str) -> None:
    import regex

    from tarantella.extractors.patterns import compile_pattern

    try:
        compile_pattern(text)
    except regex.error as error:
        raise ValueError(str(error)) from None


def _check_jmespath(text: str) -> None:
    compiled_jmespath(text)


_CHECKS: dict[str, Callable[[str], object]] = {
    "css": lambda text: turbohtml.parse("").select(text),
    "xpath": lambda text: turbohtml.parse("").xpath(_from_here(text)),
    "jmespath": _check_jmespath,
    "regex": _check_regex,
}
_WORDS = {"css": "CSS", "xpath": "XPath", "jmespath": "JMESPath", "regex": "a regular expression"}
_REMEDIES = {
    "css": "Write one as in a style sheet, like '.price'; for an attribute, name=css@attribute.",
    "xpath": "Write one like //h1/text(); functions that read files or addresses don't exist here.",
    "jmespath": "Write one like offers[0].price.",
    "regex": r"Write one like 'SKU:\s*(\w+)'; the first group is the value.",
}


def _problem(error: Exception) -> str:
    return str(error).rpartition('": ')[2].strip().replace("\n", " ")[:200] or type(error).__name__


def _invalid(field: Field, kind: str, problem: str) -> InvalidInput:
    text = shown(field.selectors[kind])
    return InvalidInput(
        f"The selector {text} of the field {field.name!r} is not {_WORDS[kind]}: {problem}.",
        remedy=_REMEDIES[kind],
        field="fields",
    )


def takes_time(field: Field) -> bool:
    """Whether a page could make this field take long, so that it must not be looked for where others wait."""
    if field.regex or field.jmespath or field.fields:
        return True
    if field.xpath is not None:
        return _WALKS_AGAIN.search(field.xpath) is not None
    return field.css is not None and _LOOKS_BACK.search(field.css) is not None


def raw_values(root: Root, field: Field, subject: Subject) -> list[Any]:
    """What the selectors of a field choose, one after the other. Raises TookTooLong."""
    found: list[Any]
    if field.css is not None or field.xpath is not None:
        found = _texts(_chosen(root, field), field, subject)
        if field.jmespath is not None:
            found = [value for text in found for value in _searched(_json_of(text), field.jmespath)]
    elif field.jmespath is not None:
        found = _in_json(root, field, subject)
    else:
        found = [subject.source if isinstance(root, Document) or not is_element(root) else root.inner_html]
    if field.regex is not None:
        found = _matches(found, field, subject)
    return found[:MAX_VALUES]


def chosen_roots(root: Root, field: Field, subject: Subject) -> list[Root]:
    """The elements, or the objects in JSON, that nested fields are looked for in."""
    if field.css is not None or field.xpath is not None:
        elements = [found for found in _chosen(root, field) if isinstance(found, Element)]
        if field.jmespath is None:
            return elements[:MAX_VALUES]
        texts = _texts(elements, field, subject)
        return [value for text in texts for value in _searched(_json_of(text), field.jmespath)][:MAX_VALUES]
    return _in_json(root, field, subject)[:MAX_VALUES]


def _chosen(root: Root, field: Field) -> Sequence[Any]:
    if not is_element(root):
        return ()
    if field.css is not None:
        elements: list[Element] = root.select(field.css)
        return elements[:MAX_VALUES]
    assert field.xpath is not None
    found = root.xpath(field.xpath if isinstance(root, Document) else _from_here(field.xpath))
    return found[:MAX_VALUES] if isinstance(found, list) else (found,)


def _from_here(xpath: str) -> str:
    """Within an item nobody means the whole page."""
    return f".{xpath}" if xpath.startswith("/") else xpath


def _texts(found: Sequence[Any], field: Field, subject: Subject) -> list[Any]:
    if field.attr is not None:
        return within_limits(found, attribute_reader(field.attr, lambda: subject.base_url))
    return within_limits(found, _raw_text if field.jmespath is not None else _value)


def attribute_reader(name: str, base_url: Callable[[], str]) -> Callable[[Element], str | None]:
    """How to read an attribute; addresses come out absolute where the page's own is known."""
    if name.lower() not in _ADDRESSES:
        return lambda element: element.attr(name)
    base = base_url()
    return lambda element: absolute(base, element.attr(name))


def absolute(base_url: str, address: str | None) -> str | None:
    """An address as seen from a page; as written where that makes none, or the page's own is unknown."""
    if not address or not base_url:
        return address
    try:
        return ada_url.join_url(base_url, address)
    except (ValueError, UnicodeError):
        return address


def within_limits(found: Sequence[Any], read: Callable[[Any], Any]) -> list[Any]:
    values: list[Any] = []
    left = MAX_CHARACTERS
    for each in found:
        value = read(each)
        if value is None:
            continue
        if isinstance(value, str):
            if "\0" in value:
                value = value.replace("\0", "")
            value = value[:left]
            left -= len(value)
        values.append(value)
        if left <= 0:
            break
    return values


def text_of(element: Element) -> str:
    """The text of an element on one line."""
    # Without elements inside, the plain text will do. With some, "one<br>two" must not become "onetwo".
    if element.find() is None:
        text = element.text
    elif element.find("li") is None:
        text = element.to_text()
    else:
        text = element.to_text(_NO_BULLETS)
    return " ".join(text.split())


def _value(found: Any) -> Any:
    """What an XPath or a CSS selector found, as a value."""
    if isinstance(found, Element):
        return text_of(found)
    if isinstance(found, Text):
        return " ".join(found.data.split())
    if isinstance(found, Node):
        return " ".join(found.text.split())
    return " ".join(found.split()) if isinstance(found, str) else found


def _raw_text(found: Any) -> Any:
    return found.text if isinstance(found, Node) else found


def _json_of(text: Any) -> list[Any]:
    if not isinstance(text, str):
        return []
    value = parse_json(text)
    return [value] if value is not None else list(json_in_program(text))


def _in_json(root: Root, field: Field, subject: Subject) -> list[Any]:
    assert field.jmespath is not None
    if not isinstance(root, Document) and not is_element(root) and root is not None:
        return list(_searched([root], field.jmespath))
    found: list[Any] = []
    for value in subject.json:
        found.extend(_searched([value], field.jmespath))
        if found and field.all is not True:
            break  # where several scripts have it, the first one counts
    return found


def _searched(values: Sequence[Any], expression: str) -> Iterator[Any]:
    from jmespath.exceptions import JMESPathError

    search = compiled_jmespath(expression).search
    for value in values:
        try:
            found = search(value)
        except (JMESPathError, RecursionError, TypeError, ValueError, AttributeError):
            continue  # a function that does not take what this page has
        if isinstance(found, list):
            yield from found[:MAX_VALUES]
        elif found is not None:
            yield found


@lru_cache(maxsize=512)
def compiled_jmespath(expression: str) -> jmespath.parser.ParsedResult:
    import jmespath

    return jmespath.compile(expression)


def _matches(values: Sequence[Any], field: Field, subject: Subject) -> list[Any]:
    assert field.regex is not None
    found: list[str] = []
    for value in values:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str):
            found += subject.stopwatch.find(field.regex, value, only_first=field.all is False)
        if found and field.all is False:
            break
    return within_limits(found, lambda text: " ".join(text.split()))
