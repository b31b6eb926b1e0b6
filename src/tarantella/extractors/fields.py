"""The values that a run asked for: chosen by selectors or found by name, and made the type that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from turbohtml import Document

from tarantella.domain.coverage import MISSING, UNFIT
from tarantella.domain.field import Field
from tarantella.domain.locale import Locale
from tarantella.domain.struct import Mutable, field
from tarantella.extractors import selectors
from tarantella.extractors.patterns import TookTooLong
from tarantella.extractors.selectors import (
    MAX_CHARACTERS,
    MAX_VALUES,
    absolute,
    attribute_reader,
    text_of,
    within_limits,
)
from tarantella.extractors.subject import Root, Subject

__all__ = ["Findings", "absolute", "addresses", "find_fields", "is_short", "items", "select", "takes_time", "validate"]

MAX_RAW = 200
MAX_PROBLEMS = 100  # of one record
TOO_LONG = "the expression took too long on this page"


class Findings(Mutable):
    """What was found of the fields of one record."""

    values: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)  # where values came from that were found by name
    problems: dict[str, dict[str, str]] = field(
        default_factory=dict
    )  # what did not fit, with the text as it stands there
    lacking: dict[str, str] = field(default_factory=dict)  # fields without a value: missing, or unfit

    def record(self) -> dict[str, Any]:
        """What a record has of it."""
        data: dict[str, Any] = {"fields": self.values}
        if self.sources:
            data["sources"] = self.sources
        if self.problems:
            data["problems"] = self.problems
        return data

    def trouble(self, name: str, problem: str, raw: Any) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.setdefault(name, {"problem": problem, "raw": _shown(raw)})


def validate(fields: Sequence[Field]) -> None:
    """Refuse selectors that could never be used, before anything is fetched."""
    for wanted in fields:
        selectors.validate(wanted)


def takes_time(fields: Sequence[Field]) -> bool:
    """Whether looking for these could take long enough to keep others waiting."""
    return any(selectors.takes_time(wanted) or (wanted.is_plain and not _is_quick(wanted.name)) for wanted in fields)


def _is_quick(name: str) -> bool:
    from tarantella.extractors.names import is_quick

    return is_quick(name)


def find_fields(subject: Subject, fields: Sequence[Field], root: Root = None) -> Findings:
    """The values of these fields on a page, or in one item of it."""
    findings = Findings()
    for wanted in fields:
        value = _find(subject, wanted, subject.tree if root is None else root, findings, wanted.name)
        if value is None:
            findings.lacking[wanted.name] = UNFIT if wanted.name in findings.problems else MISSING
            value = wanted.default
        findings.values[wanted.name] = value
    return findings


def items(subject: Subject, item: Field) -> list[Root]:
    """What the records of a list page are made of."""
    return selectors.chosen_roots(subject.tree, item, subject)


def addresses(subject: Subject, place: Field) -> list[str]:
    """The addresses that a field finds: those of the next pages of a list."""
    found = selectors.raw_values(subject.tree, place, subject)
    return [value for value in found if isinstance(value, str) and value]


def _find(subject: Subject, wanted: Field, root: Root, findings: Findings, path: str) -> Any:
    if wanted.is_plain:
        return _by_name(subject, wanted, findings)
    try:
        if wanted.fields:
            objects = selectors.chosen_roots(root, wanted, subject)
            made = [_object(subject, wanted, each, findings, path) for each in _as_many(objects, wanted)]
            return _gathered([each for each in made if each is not None], wanted)
        raw = selectors.raw_values(root, wanted, subject)
    except TookTooLong:
        findings.trouble(path, TOO_LONG, wanted.regex)
        return None
    if wanted.type is None or wanted.type == "string":
        return _gathered([value for value in raw if value is not None], wanted)
    return _gathered(typed_values(_as_many(raw, wanted), wanted, subject, findings, path), wanted)


def _by_name(subject: Subject, wanted: Field, findings: Findings) -> Any:
    from tarantella.extractors.by_name import find

    def fitting(values: list[Any], kind: str | None) -> list[Any]:
        return typed_values(values, wanted, subject, Findings(), wanted.name, kind)

    value, source = find(subject, wanted, partial(findings.trouble, wanted.name), fitting)
    if source is not None:
        findings.sources[wanted.name] = source
    return value


def typed_values(
    raw: Sequence[Any], wanted: Field, subject: Subject, findings: Findings, path: str, type_name: str | None = None
) -> list[Any]:
    """Values of the type that was asked for; what doesn't fit is told with the text as it stands there."""
    # Loaded by those who ask for a type: it knows the months of many languages.
    from tarantella.domain.values import Unfit, typed

    locale = Locale.of(wanted.locale) if wanted.locale else subject.locale
    kind = type_name or wanted.type or "string"
    values = []
    for each in raw:
        if each == "" and kind == "boolean" and wanted.attr:
            values.append(True)  # an attribute like `checked` says yes by being there
            continue
        try:
            values.append(typed(each, kind, locale, subject.base_url))
        except Unfit as error:
            findings.trouble(path, str(error), each)
    return values


def _object(subject: Subject, wanted: Field, root: Root, findings: Findings, path: str) -> dict[str, Any] | None:
    values: dict[str, Any] = {}
    for nested in wanted.fields:
        name = f"{path}.{nested.name}"
        value = _find(subject, nested, root, findings, name)
        if value is None and nested.required:
            findings.trouble(name, "it is required and missing", "")
        values[nested.name] = nested.default if value is None else value
    return values if any(value is not None for value in values.values()) else None


def _as_many(found: Sequence[Any], wanted: Field) -> Sequence[Any]:
    return found[:1] if wanted.all is False else found


def _gathered(values: Sequence[Any], wanted: Field) -> Any:
    """One value or a list, as it was asked for; None for nothing."""
    if wanted.all is True:
        return list(values) or None
    if wanted.all is None and len(values) > 1:
        return list(values)
    return values[0] if values else None


def select(document: Document, wanted: Field, base_url: Callable[[], str]) -> Any:
    """The short way for a field that is nothing but a CSS selector: most are, and this is where speed counts."""
    assert wanted.css is not None
    found = document.select(wanted.css)
    if not found:
        return None
    if wanted.attr is None and (wanted.all is False or (len(found) == 1 and wanted.all is None)):
        first = found[0]
        text = " ".join(first.text.split()) if first.find() is None else text_of(first)
        if len(text) <= MAX_CHARACTERS and "\0" not in text:
            return text
    if wanted.all is False:
        found = found[:1]
    elif len(found) > MAX_VALUES:
        found = found[:MAX_VALUES]
    values = within_limits(found, text_of if wanted.attr is None else attribute_reader(wanted.attr, base_url))
    return _gathered(values, wanted)


def is_short(wanted: Field) -> bool:
    """Whether the short way will do."""
    return (
        wanted.css is not None
        and wanted.type in (None, "string")
        and not (wanted.regex or wanted.jmespath or wanted.fields)
    )


def _shown(raw: Any) -> str:
    text = raw if isinstance(raw, str) else str(raw)
    return text[: MAX_RAW - 1] + "…" if len(text) > MAX_RAW else text
