"""What should be there, how much of it is, and which gaps follow: sets of keys are compared, never totals."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, Literal

from tarantella.domain.gap import Gap
from tarantella.domain.partition import Partitions
from tarantella.domain.path_pattern import PathPattern, Reader, Slot
from tarantella.domain.run import Priority
from tarantella.domain.struct import Frozen

Key = int | str  # as it was written: a number stays one
State = Literal["complete", "stale", "partial", "missing"]
DATA_TYPE, MISSING_FILES, MISSING_KEYS = "data_type", "missing_files", "missing_keys"
SECONDS_PER_DAY = 86_400.0
LATEST = 253_000_000_000.0  # in the year 9987
LONGEST_ID = 160
MOST_NAMED = 1_000  # of what is missing; the reason says how many more there are
MOST_NAMED_CHARACTERS = 150_000
UNFINISHED = (".part", ".tmp")  # what is being written has such an ending
_BY_AGE = (Priority.HIGH, Priority.MEDIUM)
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_.]+")


class Expected(Frozen):
    """What should be there of one type of data of one source."""

    source: str
    data_type: str
    scraper: str
    patterns: tuple[PathPattern, ...]
    partitions: Partitions = Partitions()
    required: bool = True
    freshness_days: float | None = None
    count: int | None = None  # of files per partition
    counts: Mapping[str, int] = {}  # where they differ
    keys: tuple[Key, ...] | None = None
    keys_of: Mapping[str, tuple[Key, ...]] = {}
    keys_as: str = MISSING_KEYS
    min_bytes: int = 1
    estimated_minutes: float | None = None

    def keys_in(self, partition: str) -> tuple[Key, ...] | None:
        return self.keys_of.get(partition, self.keys)

    def count_in(self, partition: str) -> int | None:
        return self.counts.get(partition, self.count)

    def plain_files(self, partition: str) -> frozenset[str]:
        """The files that are meant, where all of them are known by their paths and none can stand for another."""
        if not all(pattern.is_plain for pattern in self.patterns):
            return frozenset()
        paths = frozenset(pattern.path(self._known(pattern, partition)) for pattern in self.patterns)
        count = self.count_in(partition)
        return paths if len(paths) == (1 if count is None else count) else frozenset()

    def folders(self, pattern: PathPattern, partitions: Iterable[str]) -> set[str]:
        """Where to look for what a pattern means."""
        return {pattern.folder(self._known(pattern, each)) for each in partitions}

    def readers(self, partitions: Iterable[str]) -> list[Reader]:
        """One for each pattern."""
        named = list(partitions)
        keys = {each: _texts(some) for each in named if (some := self.keys_in(each)) is not None}
        return [
            Reader(pattern, {self.partitions.texts(each, pattern.slots): each for each in named}, keys)
            for pattern in self.patterns
        ]

    def shares(self, today: date) -> dict[str, Share]:
        """What is expected of each partition that there is today, before anything was found."""
        values = self.partitions.on(today)
        ages = [0 if self.partitions.all_current else len(values) - 1 - number for number in range(len(values))]
        return {value: Share(self, value, age) for value, age in zip(values, ages, strict=True)}

    def _known(self, pattern: PathPattern, partition: str) -> dict[Slot, str]:
        return dict(zip(pattern.slots, self.partitions.texts(partition, pattern.slots), strict=True))


class Coverage(Frozen):
    """How much there is of one partition of one type of data."""

    source: str
    data_type: str
    partition: str | None
    expected: int
    present: int
    completeness: float  # 0 to 1
    state: State
    newest: float | None
    files: int
    surplus: int  # how many more there are than expected
    too_small: int
    required: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "data_type": self.data_type,
            "partition": self.partition,
            "state": self.state,
            "expected": self.expected,
            "present": self.present,
            # Cut, not rounded: what lacks one of a million is not complete.
            "completeness_percent": int(self.completeness * 10_000) / 100,
            "newest": None if self.newest is None else moment(self.newest),
            "files": self.files,
            "surplus": self.surplus,
            "too_small": self.too_small,
            "missing": max(0, self.expected - self.present),
            "required": self.required,
        }


class Share:
    """One partition of one type: what is expected of it, and what was found. However many files there are, it stays small."""

    def __init__(self, expected: Expected, partition: str, age: int) -> None:
        self.expected = expected
        self.partition = partition
        self.age = age  # 0 is the current partition, 1 the one before it
        self._keys = expected.keys_in(partition)
        self._texts = _texts(self._keys or ())
        self._plain = expected.plain_files(partition)
        self._found: set[str] = set()  # keys, or the paths of files that are known by them; only such as are expected
        self._files = self._others = self._too_small = 0
        self._newest: float | None = None

    def add(self, path: str, key: str | None, size: int, modified: float) -> None:
        """One more file, which a pattern means."""
        if path.endswith(UNFINISHED):
            return
        if self._keys is not None and key not in self._texts:
            self._others += 1
        elif size < self.expected.min_bytes:
            self._too_small += 1
        else:
            if self._keys is not None and key is not None:
                self._found.add(key)
            elif path in self._plain:
                self._found.add(path)
            self._files += 1
            modified = min(max(modified, 0.0), LATEST)  # a file system stores any number
            self._newest = modified if self._newest is None else max(self._newest, modified)

    def coverage(self, now: datetime) -> Coverage:
        expected, present = self._amounts()
        completeness = min(present, expected) / expected if expected else 1.0
        state: State = "complete" if present >= expected else "partial" if present else "missing"
        if state != "missing" and self._is_stale(now):
            state = "stale"
        surplus = self._others if self._keys is not None else 0
        if self._keys is None and self.expected.count_in(self.partition) is not None:
            surplus = max(0, present - expected)
        return Coverage(
            self.expected.source,
            self.expected.data_type,
            self.partition if self.expected.partitions.name is not None else None,
            expected,
            present,
            completeness,
            state,
            self._newest,
            self._files,
            surplus,
            self._too_small,
            self.expected.required,
        )

    def gap(self, now: datetime) -> Gap | None:
        """What is to be done about it; None where all is there."""
        found = self.coverage(now)
        if found.state == "complete":
            return None
        missing = self.missing()
        named = _as_many_as_fit(missing)
        params: dict[str, Any] = {}
        if self.expected.partitions.name is not None:
            params[self.expected.partitions.name] = self.partition
        params[DATA_TYPE] = self.expected.data_type
        if named:
            params[self.expected.keys_as if self._keys is not None else MISSING_FILES] = named
        return Gap(
            id_of(self.expected.source, self.expected.data_type, self.partition),
            self._priority(found.state),
            self.expected.source,
            self.expected.scraper,
            params,
            self.expected.estimated_minutes,
            ", ".join(self._reasons(found, len(named), len(missing) - len(named), now)),
        )

    def missing(self) -> list[Key]:
        """Keys or files, in their order, where it is known which."""
        if self._keys is not None:
            return sorted((key for key in self._keys if str(key) not in self._found), key=_in_order)
        return sorted(self._plain - self._found)

    def _amounts(self) -> tuple[int, int]:
        """How much is expected, and how much is there: of keys and known files those that are expected, else all files."""
        if self._keys is not None:
            return len(self._keys), len(self._found)
        if self._plain:
            return len(self._plain), len(self._found)
        count = self.expected.count_in(self.partition)
        return 1 if count is None else count, self._files

    def _is_stale(self, now: datetime) -> bool:
        days = self.expected.freshness_days
        if self.age or days is None or self._newest is None:
            return False
        return now.timestamp() - self._newest > days * SECONDS_PER_DAY

    def _priority(self, state: State) -> Priority:
        if not self.expected.required:
            return Priority.LOW
        if state == "stale":
            return Priority.CRITICAL
        return _BY_AGE[self.age] if self.age < len(_BY_AGE) else Priority.LOW

    def _reasons(self, found: Coverage, named: int, unnamed: int, now: datetime) -> Iterator[str]:
        if found.state == "stale" and found.newest is not None:
            newest = datetime.fromtimestamp(found.newest, now.tzinfo).date()
            yield f"stale: the newest file is of {newest}, and should not be older than {_days(self.expected)}"
        lacking = found.expected - found.present
        if lacking > 0:
            called = self.expected.keys_as if self.expected.keys_as != MISSING_KEYS else "keys"
            things = called.replace("_", " ") if self._keys is not None else "files"
            if found.state == "missing" and found.expected == 1:
                yield "missing: nothing is there"
            else:
                yield f"missing: {lacking:,} of {found.expected:,} {things}"
            if unnamed:
                yield f"of which the first {named:,} are named, and {unnamed:,} more are not"
        if found.too_small:
            are = "is" if found.too_small == 1 else "are"
            yield f"{found.too_small:,} {are} smaller than {self.expected.min_bytes:,} bytes"


def id_of(source: str, data_type: str, partition: str) -> str:
    """The same in every scan, and another for every other: names may look alike once they are shortened."""
    names = [name for name in (source, data_type, partition) if name]
    told = _NOT_IN_IDS.sub("-", "-".join(names))[:LONGEST_ID].strip("-")
    digest = hashlib.sha256(json.dumps([source, data_type, partition]).encode()).hexdigest()[:8]
    return f"{told}-{digest}" if told else digest


def moment(timestamp: float) -> str:
    """A moment for machines."""
    return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _as_many_as_fit(missing: Sequence[Key]) -> list[Key]:
    room = MOST_NAMED_CHARACTERS
    named: list[Key] = []
    for each in missing[:MOST_NAMED]:
        room -= len(str(each))
        if room < 0:
            break
        named.append(each)
    return named


def _in_order(key: Key) -> tuple[bool, Key]:
    return isinstance(key, str), key


def _days(expected: Expected) -> str:
    days = expected.freshness_days or 0
    return "1 day" if days == 1 else f"{days:g} days"


@lru_cache(maxsize=64)
def _texts(keys: tuple[Key, ...]) -> frozenset[str]:
    return frozenset(map(str, keys))
