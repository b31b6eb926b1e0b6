"""The file of what should be there, `config/expected_coverage.yaml`: read, and held against what it can say."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tarantella.domain.errors import InvalidInput
from tarantella.domain.expectation import DATA_TYPE, MISSING_FILES, MISSING_KEYS, Expected, Key
from tarantella.domain.gap import KEYS, LONGEST_NAME, MOST_MINUTES
from tarantella.domain.partition import Partitions
from tarantella.domain.path_pattern import KEY, NoPattern, PathPattern, no_text_of_a_path, pattern_of
from tarantella.services.fields_file import parsed_file
from tarantella.services.partitions_said import UNDIVIDED, partitions_of

USUAL = Path("config/expected_coverage.yaml")
BESIDE_SCRAPERS = Path("config/scraper_config.yaml")
TOP = "expected_coverage"
SOURCE_KEYS = ("scraper", "partitions", "data_types")
TYPE_KEYS = (
    "scraper",
    "partitions",
    "required",
    "freshness_days",
    "path_patterns",
    "expected_per_partition",
    "expected_keys",
    "keys_as",
    "min_bytes",
    "estimated_minutes",
)
MOST_FILES = 1_000_000_000
MOST_PATTERNS = 50
LARGEST = 2**53 - 1  # number that everybody who reads JSON reads as it is
MOST_DAYS = 36_500
_REMEDY = "docs/gaps.md shows what it can say."
_TAKEN = (*KEYS, DATA_TYPE, MISSING_FILES, KEY)  # names that mean something else in a task or a pattern


def read_expectations(path: Path | None = None) -> tuple[Path, list[Expected]]:
    """What is expected, and the file that said so. Raises InvalidInput that names the file and the place in it."""
    found = path or usual_file()
    if found is not None:
        return found, _At(found, ()).expectations(parsed_file(found, "expected", _REMEDY))
    raise InvalidInput(
        f"Nobody has said what should be there: there is no {USUAL}, and no {TOP} in {BESIDE_SCRAPERS}.",
        remedy="Write one, as docs/gaps.md shows, or name another file with --expected.",
        field="expected",
    )


def usual_file() -> Path | None:
    """The file in the current folder that says what is expected, if there is one."""
    if USUAL.is_file():
        return USUAL
    if not BESIDE_SCRAPERS.is_file():
        return None
    document = parsed_file(BESIDE_SCRAPERS, "expected", _REMEDY)
    return BESIDE_SCRAPERS if isinstance(document, Mapping) and TOP in document else None


class _At:
    """A place in the file, at which something is said."""

    def __init__(self, path: Path, place: Sequence[str]) -> None:
        self.path = path
        self.place = tuple(place)

    def below(self, name: object) -> _At:
        return _At(self.path, (*self.place, str(name)))

    def wrong(self, told: str, remedy: str = _REMEDY) -> InvalidInput:
        place = ".".join(self.place)
        where = f"{self.path}: {place}" if place else str(self.path)
        return InvalidInput(f"{where}: {told}", remedy=remedy, field=place or "expected")

    def expectations(self, document: Any) -> list[Expected]:
        said = self._mapping(document, "a mapping with the key `expected_coverage`")
        if TOP not in said:
            raise self.wrong(f"it has no key `{TOP}`.")
        if "scrapers" not in said:  # where it stands beside them, other keys are somebody else's
            self._known(said, (TOP,))
        at = self.below(TOP)
        sources = at._mapping(said[TOP], "a mapping of sources")
        return [each for name, of in sources.items() for each in at.below(name)._source(at._name(name), of)]

    def _source(self, name: str, said: Any) -> Iterator[Expected]:
        source = self._mapping(said, "a mapping with `data_types`")
        self._known(source, SOURCE_KEYS)
        if "data_types" not in source:
            raise self.wrong("it has no `data_types`: nothing is expected of it.")
        types = self.below("data_types")
        for data_type, of in types._mapping(source["data_types"], "a mapping of types").items():
            yield types.below(data_type)._data_type(name, types._name(data_type), of, source)

    def _data_type(self, source: str, name: str, said: Any, of_source: Mapping[str, Any]) -> Expected:
        found = self._mapping(said, "a mapping with `path_patterns`")
        self._known(found, TYPE_KEYS)
        partitions = self._partitions(found, of_source)
        keys, keys_of, count, counts = self._amount(found, partitions)
        patterns = self._patterns(found, partitions, has_keys=keys is not None or bool(keys_of))
        return Expected(
            source,
            name,
            self._scraper(found, of_source, source),
            patterns,
            partitions,
            self._truth(found, "required", True),
            self._number(found, "freshness_days", MOST_DAYS),
            count,
            counts,
            keys,
            keys_of,
            self._keys_as(found, partitions, has_keys=keys is not None or bool(keys_of)),
            self.below("min_bytes")._whole(found.get("min_bytes", 1)),
            self._number(found, "estimated_minutes", MOST_MINUTES),
        )

    def _partitions(self, found: Mapping[str, Any], of_source: Mapping[str, Any]) -> Partitions:
        own = "partitions" in found
        at = self if own else _At(self.path, self.place[:-2])
        said = found["partitions"] if own else of_source.get("partitions", UNDIVIDED)
        at = at.below("partitions")
        try:
            partitions = partitions_of(said)
        except ValueError as error:
            raise at.wrong(str(error)) from None
        if partitions.name in (*_TAKEN, MISSING_KEYS):
            told = f"{partitions.name!r} means something else in a task."
            raise at.wrong(told, "Say another name with `as`, as in {sources: [a, b], as: site}.")
        return partitions

    def _scraper(self, found: Mapping[str, Any], of_source: Mapping[str, Any], source: str) -> str:
        if "scraper" in found:
            return self.below("scraper")._name(found["scraper"])
        return _At(self.path, (*self.place[:-2], "scraper"))._name(of_source.get("scraper", source))

    def _patterns(self, found: Mapping[str, Any], partitions: Partitions, *, has_keys: bool) -> tuple[PathPattern, ...]:
        at = self.below("path_patterns")
        said = found.get("path_patterns")
        listed = [said] if isinstance(said, str) else said
        if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_PATTERNS:
            raise at.wrong(f"it is {_shown(said)}, not a list of 1 to {MOST_PATTERNS} patterns of paths.")
        patterns = []
        for number, text in enumerate(listed):
            here = at.below(number)
            if not isinstance(text, str):
                raise here.wrong(f"it is {_shown(text)}, not a text as in raw/*.json.")
            try:
                pattern = pattern_of(text, partitions.name, dated=partitions.unit is not None)
            except NoPattern as error:
                raise here.wrong(str(error)) from None
            if partitions.name is not None and not pattern.slots:
                told = f"{text!r} has no {{{partitions.name}}} in it: one file would be in all of them."
                raise here.wrong(told, "Put it in, or say `partitions: none` of this type.")
            if pattern.has_key != has_keys:
                raise here.wrong(
                    f"{text!r} has {'no {key} in it, which would tell the keys' if has_keys else '{key} in it'}.",
                    "Put it in." if has_keys else "Say which keys there are with `expected_keys`, or write `*`.",
                )
            patterns.append(pattern)
        return tuple(patterns)

    def _amount(
        self, found: Mapping[str, Any], partitions: Partitions
    ) -> tuple[tuple[Key, ...] | None, dict[str, tuple[Key, ...]], int | None, dict[str, int]]:
        """Keys for all partitions, keys of some, files of all, files of some."""
        if "expected_keys" in found and "expected_per_partition" in found:
            raise self.wrong("`expected_keys` and `expected_per_partition` are there: one of them says how much.")
        keys_only = "expected_keys" in found
        name = "expected_keys" if keys_only else "expected_per_partition"
        at, said = self.below(name), found.get(name)
        if name not in found:
            return None, {}, None, {}
        if not isinstance(said, Mapping):
            keys, count = at._keys_or_count(said, keys_only=keys_only)
            return keys, {}, count, {}
        keys_of: dict[str, tuple[Key, ...]] = {}
        counts: dict[str, int] = {}
        for partition, of in said.items():
            here = at.below(partition)
            if partitions.name is None or (not partitions.is_computed and str(partition) not in partitions.values):
                known = ", ".join(partitions.values[-5:]) or "none, for it is not divided"
                raise here.wrong(f"there is no such partition; there are {known}.")
            keys, count = here._keys_or_count(of, keys_only=keys_only)
            if keys is not None:
                keys_of[str(partition)] = keys
            elif count is not None:
                counts[str(partition)] = count
        if keys_of and counts:
            raise at.wrong("some partitions have keys, others a number: it must be the same for all.")
        return None, keys_of, None, counts

    def _keys_or_count(self, said: Any, *, keys_only: bool) -> tuple[tuple[Key, ...] | None, int | None]:
        if not isinstance(said, list):
            if keys_only:
                raise self.wrong(f"it is {_shown(said)}, not a list of keys.")
            return None, self._whole(said, "a number of files, or a list of keys")
        keys: dict[str, Key] = {}
        for number, key in enumerate(said):
            here = self.below(number)
            is_number = isinstance(key, int) and not isinstance(key, bool) and abs(key) <= LARGEST
            if not is_number and not isinstance(key, str):
                raise here.wrong(f"{_shown(key)} is no key.", "Put it in quotation marks.")
            if (trouble := no_text_of_a_path(str(key))) is not None:
                raise here.wrong(f"{_shown(key)} can't be a key: {trouble}.")
            if str(key) in keys:
                raise here.wrong(f"the key {str(key)!r} was there before.", "Say each key once.")
            keys[str(key)] = key
        return tuple(keys.values()), None

    def _keys_as(self, found: Mapping[str, Any], partitions: Partitions, *, has_keys: bool) -> str:
        if "keys_as" not in found:
            return MISSING_KEYS
        at = self.below("keys_as")
        name = at._name(found["keys_as"])
        if not has_keys:
            raise at.wrong("no keys are expected that could be called so.", "Say which, with `expected_keys`.")
        if name in _TAKEN or name == partitions.name:
            raise at.wrong(f"{name!r} means something else in a task.", "Choose another name, as in game_ids.")
        return name

    def _truth(self, found: Mapping[str, Any], name: str, otherwise: bool) -> bool:
        value = found.get(name, otherwise)
        if not isinstance(value, bool):
            raise self.below(name).wrong(f"it is {_shown(value)}, neither true nor false.")
        return value

    def _number(self, found: Mapping[str, Any], name: str, most: float) -> float | None:
        if name not in found:
            return None
        value = found[name]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 < value <= most:
            raise self.below(name).wrong(f"it is {_shown(value)}, not a number above 0 and up to {most:,g}.")
        return float(value)

    def _whole(self, value: Any, what: str = "a number") -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_FILES:
            raise self.wrong(f"it is {_shown(value)}, not {what}: 0 to {MOST_FILES:,}, without a fraction.")
        return value

    def _name(self, value: Any) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or not 0 < len(value.strip()) <= LONGEST_NAME or not value.isprintable():
            raise self.wrong(f"{_shown(value)} is no name: a text of 1 to {LONGEST_NAME} characters in one line.")
        return value

    def _mapping(self, value: Any, what: str) -> Mapping[Any, Any]:
        if not isinstance(value, Mapping):
            raise self.wrong(f"it is {_shown(value)}, not {what}.")
        if not value:
            raise self.wrong(f"it is empty, not {what}.")
        return value

    def _known(self, said: Mapping[Any, Any], known: Collection[str]) -> None:
        for name in said:
            if name not in known:
                close = difflib.get_close_matches(str(name), known, 1)
                meant = f"`{close[0]}` is probably meant." if close else f"It can have {', '.join(known)}."
                raise self.below(name).wrong("there is no such key here.", meant)


def _shown(value: Any) -> str:
    return "missing" if value is None else repr(value)[:60]
