"""Finds, among what a page asked for, the answer that its records were made of; where it is not sure, it finds nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tarantella.domain.field import Field
from tarantella.domain.json_tree import SAMPLED, Path, at, kind, leaves, lists, shape
from tarantella.domain.locale import Locale
from tarantella.domain.recording import Maker, Place, Reading, Recording
from tarantella.domain.recording_paging import Part, find_paging, word, words
from tarantella.domain.recording_reading import FORMS, Context, shown
from tarantella.domain.recording_request import Template, hidden, name_of, slots
from tarantella.domain.struct import Frozen, replace
from tarantella.domain.values import Unfit, typed

MOST_EXCHANGES = 200
MOST_BEFORE = 5
MOST_LISTS = 50  # of one answer
SURE = 0.6
MOST_AROUND = 200  # characters that a page may put around a value
_DIGITS = re.compile(r"\d+")
# Around a value, not within it: 7.5 is no part of 17.50.
_IN_A_NUMBER = re.compile(r"\d[.,]?\0[\d.,]|[\d.,]\0[.,]?\d")

# What the same thing is called elsewhere.
_SAME = (
    frozenset({"title", "name", "headline", "label"}),
    frozenset({"image", "img", "picture", "thumbnail", "photo"}),
    frozenset({"url", "link", "href", "permalink", "uri"}),
    frozenset({"description", "summary", "body", "text", "excerpt", "content"}),
    frozenset({"price", "amount", "cost"}),
    frozenset({"date", "published", "publishedat", "createdat", "created", "time"}),
    frozenset({"author", "by", "writer", "creator"}),
    frozenset({"availability", "stock", "instock", "available"}),
    frozenset({"id", "sku", "identifier", "code"}),
    frozenset({"rating", "score", "stars"}),
)


class Heard(NamedTuple):
    """A question that a page's scripts asked, and the answer, if that was JSON."""

    template: Template
    url: str
    answer: Any
    link: str | None = None  # where its Link header says that the next part is


class Known(Frozen):
    """What is known of the records of a page: the values of each, by field, and where relative addresses start from."""

    fields: Sequence[Field]
    records: Sequence[Mapping[str, Any]]
    is_list: bool
    page_url: str
    about: Mapping[str, Any]

    @property
    def context(self) -> Context:
        return Context(Locale.of(self.about.get("language")).at(self.page_url), self.page_url)


class NotFound(NamedTuple):
    """Nothing that could be replayed, and why."""

    why: str


def find(heard: Sequence[Heard], known: Known) -> Recording | NotFound:
    """The recording that gives the records which are known; the surest, where several would."""
    if not heard:
        return NotFound("the page's scripts asked for no JSON")
    if not any(_said(record.get(field.name), field) for record in known.records for field in known.fields):
        return NotFound("the page gave no values to look for")
    found = [recording for group in _groups(heard) if (recording := _match(group, known)) is not None]
    if not found:
        return NotFound("no answer holds the values of all fields")
    best = max(found, key=lambda recording: recording.confidence)
    if best.confidence < SURE:
        return NotFound(f"the likeliest answer is too unsure ({best.confidence:.0%})")
    return best


def find_by_name(heard: Sequence[Heard], fields: Sequence[Field], page_url: str) -> Recording | NotFound:
    """The same where no values are known: by what things are called."""
    best: Recording | None = None
    size = 0
    for group in _groups(heard):
        for path, items in [*_lists(group[0].answer), (None, [group[0].answer])]:
            places = _places_by_name(items, fields)
            if places is None:
                continue
            sure = round(sum(score for _, score in places.values()) / (2 * len(places)), 2)
            longer = len(items) if path is not None else 0
            if best is None or (sure, longer) > (best.confidence, size):
                reading = Reading(path, {name: place for name, (place, _) in places.items()}, page_url=page_url)
                best, size = _recording(group, reading, sure, maker=Maker.HAR), longer
    if best is None:
        names = ", ".join(field.name for field in fields)
        return NotFound(f"no answer has values that are called {names}" if heard else "there is no JSON in it")
    return best


# -- the same question, asked again and again


def _groups(heard: Sequence[Heard]) -> list[list[Heard]]:
    """What was asked of the same place, in its order: those could be the parts of one list."""
    groups: dict[tuple[str, ...], list[Heard]] = {}
    for each in heard[:MOST_EXCHANGES]:
        if isinstance(each.answer, (dict, list)):
            group = groups.setdefault(_place(each.template), [])
            # The same question twice has the same answer.
            if all(other.template != each.template for other in group):
                group.append(each)
    return list(groups.values())


def _place(template: Template) -> tuple[str, ...]:
    """Whom a question asks, and for what: the operations of GraphQL share an address."""
    asked = [
        str(value)
        for slot, value in slots(template).items()
        if name_of(template, slot) in ("query", "operationName", "documentId")
    ]
    return template.method, _DIGITS.sub("0", template.url.partition("?")[0]), *asked


def _lists(answer: Any) -> list[tuple[Path | None, list[Any]]]:
    found: list[tuple[Path | None, list[Any]]] = []
    for path, items in lists(answer):
        found.append((path, items))
        if len(found) >= MOST_LISTS:
            break
    return found


# -- by their values


def _match(group: Sequence[Heard], known: Known) -> Recording | None:
    found = _match_list(group, known) if known.is_list else _match_one(group, known)
    return max(found, key=lambda recording: recording.confidence, default=None)


def _match_list(group: Sequence[Heard], known: Known) -> Iterator[Recording]:
    """The records are the items of a list, part after part, in their order."""
    for start in range(min(len(group), MOST_BEFORE)):
        # What a page asked for at first, before somebody chose a filter, say, is not what it shows.
        for path, _ in _lists(group[start].answer):
            assert path is not None
            parts = _shown_parts(_parts(group[start:], path), len(known.records))
            items = [item for part in parts for item in part.items]
            if parts and (places := _places(items, known)) is not None:
                reading = Reading(path, places, about=known.about, page_url=known.page_url)
                yield _recording(group[start:], reading, _confidence(places, known), parts)


def _shown_parts(parts: Sequence[Part], records: int) -> Sequence[Part]:
    """The first parts that have so many items together; scripts may have asked for one more, with no room for it yet."""
    count = 0
    for number, part in enumerate(parts, 1):
        count += len(part.items)
        if count >= records:
            return parts[:number] if count == records else ()
    return ()


def _match_one(group: Sequence[Heard], known: Known) -> Iterator[Recording]:
    """The record is the page: its values stand somewhere in one answer."""
    for heard in reversed(group):
        if (places := _places_together(heard.answer, known)) is not None:
            about = {"language": known.about.get("language")}
            reading = Reading(None, places, about=about, page_url=known.page_url)
            yield _recording([heard], reading, _confidence(places, known))


def _parts(group: Sequence[Heard], path: Path) -> list[Part]:
    parts = []
    for heard in group:
        items = at(heard.answer, path)
        if isinstance(items, list) and all(isinstance(item, dict) for item in items):
            parts.append(Part(heard.template, heard.url, heard.answer, items, heard.link))
    return parts


def _places(items: Sequence[Any], known: Known) -> dict[str, Place] | None:
    """Where each field stands in the items; None where one of them is not to be found."""
    candidates = _all_candidates(items, known)
    if candidates is None:
        return None
    return {field.name: max(found, key=lambda place: _liking(place, field)) for field, found in candidates}


def _places_together(answer: Any, known: Known) -> dict[str, Place] | None:
    """The same for a single record: of places that fit equally, those that stand together, for values of one seldom scatter."""
    candidates = _all_candidates([answer], known)
    if candidates is None:
        return None
    above = [{place.path[:depth] for place in found for depth in range(len(place.path))} for _, found in candidates]
    shared = set.intersection(*above)
    nearest = max(shared, key=lambda path: (len(path), -_numbers(path), repr(path)))
    chosen = {}
    for field, found in candidates:
        near = [place for place in found if place.path[: len(nearest)] == nearest]
        chosen[field.name] = max(near, key=lambda place: _liking(place, field))
    return chosen


def _all_candidates(items: Sequence[Any], known: Known) -> list[tuple[Field, list[Place]]] | None:
    """For each field that has values, every place that has them; None where one has none."""
    ways = _ways(items)
    found = []
    for field in known.fields:
        values = [record.get(field.name) for record in known.records]
        if not any(_said(value, field) for value in values):
            if field.required:
                return None
            continue  # the page has none either
        candidates = list(_candidates(items, values, ways, field, known.context))
        if not candidates:
            return None
        found.append((field, candidates))
    return found or None


def _ways(items: Sequence[Any]) -> list[Path]:
    ways: dict[Path, None] = {}
    for item in items[:SAMPLED]:
        ways |= dict.fromkeys(leaves(item, most=2_000 if len(items) == 1 else 300))
    return list(ways)


def _candidates(
    items: Sequence[Any], values: Sequence[Any], ways: Sequence[Path], field: Field, context: Context
) -> Iterator[Place]:
    """Every place and form that gives all of these values."""
    first = next(number for number, value in enumerate(values) if _said(value, field))
    differ = len({str(value) for value in values if _said(value, field)}) > 1
    for path in ways:
        if any(isinstance(step, int) and step > 0 for step in path):
            continue  # what stands third today may stand fourth tomorrow
        raw = at(items[first], path)
        for place in _guesses(raw, values[first], path, field, context):
            if not differ and 2 * len(place.before + place.after) > len(str(values[first])):
                continue  # mostly made up: a value that is always the same could be anything with something around it
            if all(
                _agrees(at(item, path), value, place, field, context) for item, value in zip(items, values, strict=True)
            ):
                there = [each for item in items if (each := at(item, path)) is not None]
                kinds = tuple(sorted({kind(each) for each in there}))
                yield replace(place, kinds=kinds, always=len(there) == len(items))
                break


def _guesses(raw: Any, value: Any, path: Path, field: Field, context: Context) -> Iterator[Place]:
    """What could have been done to a raw value to make it what the page shows."""
    if raw is None or raw == []:
        return
    for form in FORMS:
        place = Place(path, form)
        if _same(shown(raw, place, field, context), value):
            yield place
    if field.type in (None, "string") and isinstance(value, str) and not isinstance(raw, (list, dict)):
        for form, write in FORMS.items():
            text = write(raw)
            if isinstance(text, str) and text and text in value and text != value:
                before, _, after = value.partition(text)
                seams = f"{before[-2:]}\0{text[0]} {text[-1]}\0{after[:2]}"
                if len(before) + len(after) <= MOST_AROUND and not _IN_A_NUMBER.search(seams):
                    yield Place(path, form, before, after)


def _agrees(raw: Any, value: Any, place: Place, field: Field, context: Context) -> bool:
    given = shown(raw, place, field, context)
    if given in (None, "") and not _said(value, field):
        return True
    return _same(given, value)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def _said(value: Any, field: Field) -> bool:
    return value not in (None, "", []) and value != field.default


def _liking(place: Place, field: Field) -> tuple[int, ...]:
    """Which of several places is meant: what is called like the field, plainly written, near the top."""
    plain = -list(FORMS).index(place.form) - len(place.before) - len(place.after)
    around = -(place.before != "" or place.after != "")
    return likeness(field.name, place.path), -_numbers(place.path), around, -len(place.path), plain


def _numbers(path: Path) -> int:
    return sum(isinstance(step, int) for step in path)


def _confidence(places: Mapping[str, Place], known: Known) -> float:
    """How unlikely it is that the values agree by chance: many different ones, or long ones, or ones that are called the same."""
    doubts = []
    for field in known.fields:
        if (place := places.get(field.name)) is None:
            continue
        values = {str(value) for record in known.records if _said(value := record.get(field.name), field)}
        told = sum(min(len(value), 12) for value in list(values)[:50])
        doubts.append(1 / (1 + told / 3 + 2 * likeness(field.name, place.path)))
    return round(1 - sum(doubts) / len(doubts), 2) if doubts else 0.0


# -- by their names


def likeness(name: str, path: Path) -> int:
    """2 where a place is called like a field, 1 where it could be meant, else 0."""
    names = [step for step in path if isinstance(step, str)]
    if not names:
        return 0
    wanted, here = word(name), word(names[-1])
    if wanted in (here, word("".join(names[-2:]))):
        return 2
    if any(wanted in same and here in same for same in _SAME):
        return 1
    # productName for name, unit_price for price; but not id for paid.
    return 1 if words(name) and set(words(name)) <= {part for each in names for part in words(each)} else 0


def _places_by_name(items: Sequence[Any], fields: Sequence[Field]) -> dict[str, tuple[Place, int]] | None:
    ways = [path for path in _ways(items) if not any(isinstance(step, int) for step in path)]
    found: dict[str, tuple[Place, int]] = {}
    for field in fields:
        liked = [(likeness(field.name, path), -len(path), path) for path in ways if likeness(field.name, path)]
        for score, _, path in sorted(liked, key=lambda each: (-each[0], -each[1])):
            values = [value for item in items if (value := at(item, path)) is not None]
            if values and _fits(values, field):
                kinds = tuple(sorted({kind(value) for value in values}))
                found[field.name] = (Place(path, kinds=kinds, always=len(values) == len(items)), score)
                break
        else:
            if field.required or not field.default:
                return None
    return found or None


def _fits(values: Sequence[Any], field: Field) -> bool:
    """Whether most of the values are of the type that the field wants."""
    if field.type in (None, "string"):
        return True
    fitting = 0
    for value in values[:SAMPLED]:
        try:
            typed(value, field.type, Locale.of(field.locale), "http://example.com/")
            fitting += 1
        except Unfit:
            pass
    return fitting * 2 > len(values[:SAMPLED])


# -- and how they go on


def _recording(
    group: Sequence[Heard],
    reading: Reading,
    confidence: float,
    parts: Sequence[Part] | None = None,
    maker: Maker = Maker.BROWSER,
) -> Recording:
    template, paging = group[0].template, None
    items: Iterable[Any] = [group[0].answer]
    if reading.items is not None:
        parts = parts or _parts(group, reading.items)
        template, paging = find_paging(parts)
        if paging is not None and maker is Maker.HAR:
            # Nobody knows how much of it the page would show.
            paging = replace(paging, most=None)
        items = parts[0].items
    shown_template, secrets = hidden(template, keep=[paging.slot] if paging is not None and paging.slot else ())
    return Recording(
        shown_template, replace(reading, paging=paging), shape(list(items)), confidence, secrets, made_by=maker
    )
