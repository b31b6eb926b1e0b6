"""Finds the value that a field's name stands for, in the order that its rule says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tarantella.domain.field import Field
from tarantella.extractors.names import Rule, rule_of
from tarantella.extractors.own_things import main_things
from tarantella.extractors.sightings import Sighting
from tarantella.extractors.structured import values_at
from tarantella.extractors.subject import Subject

MAX_MANY = 10_000


def find(
    subject: Subject,
    wanted: Field,
    trouble: Callable[[str, Any], None],
    typed: Callable[[list[Any], str | None], list[Any]],
) -> tuple[Any, str | None]:
    """The value that a name stands for on this page, and where it came from.

    `typed` makes values the type that is wanted and leaves out those that don't fit, which `trouble` hears of.
    """
    rule = rule_of(wanted.name)
    kind = wanted.type or rule.type
    unfit: Any = None
    spare: tuple[Any, str | None] = (None, None)
    for sighting in _sightings(subject, rule):
        raw = sighting.value
        values = [
            value for each in (raw if isinstance(raw, list) else [raw]) for value in _cleaned(each, rule, subject)
        ]
        fitting = typed(values, kind) if kind is not None else values
        if fitting:
            found = _gathered(fitting, rule, wanted), sighting.source
            if rule.doubtful is None or not all(rule.doubtful(value, subject) for value in fitting):
                return found
            if spare[1] is None:
                spare = found
        elif values and unfit is None:
            unfit = values[0]
    if unfit is not None and spare[1] is None:
        trouble(f"it is not {'an' if kind == 'integer' else 'a'} {kind}", unfit)
    return spare


def _gathered(values: list[Any], rule: Rule, wanted: Field) -> Any:
    values = list(dict.fromkeys(values)) if all(isinstance(value, (str, int, float)) for value in values) else values
    if wanted.all is True or (rule.many and wanted.all is not False and not rule.joined):
        return values[:MAX_MANY]
    if rule.joined:
        return ", ".join(map(str, values[:20]))
    return values if rule.many else values[0]


def _cleaned(value: Any, rule: Rule, subject: Subject) -> list[Any]:
    if rule.clean is not None:
        value = rule.clean(value, subject)
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def _sightings(subject: Subject, rule: Rule) -> Iterator[Sighting]:
    if subject.tree is None:
        yield from _in_data(subject, rule)
        return
    for look in rule.first:
        yield from look(subject)
    for kinds, paths in rule.paths:
        for thing in main_things(subject, kinds):
            for path in paths:
                values = values_at(thing.properties, path, subject.structure.by_id)
                if values:
                    kind = thing.properties.get("@type")
                    label = kind if isinstance(kind, str) else (kind[0] if isinstance(kind, list) and kind else "item")
                    yield Sighting(values, f"{thing.origin} {str(label)[:60]}.{path}")
    for name in rule.metas:
        if values := [content for content in subject.structure.metas.get(name, ()) if content]:
            yield Sighting(values if rule.many else values[:1], f"meta {name}")
    if not subject.is_tangled:
        for look in rule.look:
            yield from look(subject)


def _in_data(subject: Subject, rule: Rule) -> Iterator[Sighting]:
    """A page that is JSON: what has the name in it."""
    for value in subject.json:
        for path in dict.fromkeys(path for _, paths in rule.paths for path in paths):
            if values := values_at(value, path, {}):
                yield Sighting(values, f"json {path}")
