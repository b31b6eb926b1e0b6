"""Gaps: look through the inventory, hold it against what is expected, and say what is to be fetched."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tarantella.domain.errors import InvalidInput
from tarantella.domain.expectation import Coverage, Expected, Share
from tarantella.domain.gap import Gap
from tarantella.domain.path_pattern import Reader
from tarantella.domain.struct import Frozen
from tarantella.services.expectation_file import read_expectations
from tarantella.services.gaps_file import write_gaps_file
from tarantella.services.inventory import inventory_at
from tarantella.services.inventory.contract import MOST_PROBLEMS, Found, Inventory

MOST_SHARES = 100_000


class Scan(Frozen):
    """What there is, and what is missing of what was expected."""

    expected_file: str
    inventory: str
    scanned_at: str
    files: int
    coverage: Sequence[Coverage]
    gaps: Sequence[Gap]
    problems: Sequence[str]  # what could not be looked at: nobody knows what is missing there

    @property
    def is_sure(self) -> bool:
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        return {
            "expected": self.expected_file,
            "inventory": self.inventory,
            "scanned_at": self.scanned_at,
            "files": self.files,
            "problems": list(self.problems),
            "coverage": [each.to_json() for each in self.coverage],
        }


def scan(expected: Path | None, inventory: str, now: datetime) -> Scan:
    """Look through an inventory; `now` is in the zone in which days begin. Nothing is written."""
    file, expectations = read_expectations(expected)
    opened = inventory_at(inventory)
    shares = _shares_of(file, expectations, now)
    problems: list[str] = []
    files = _count(opened, expectations, shares, problems)
    flat = [share for of_one in shares for share in of_one.values()]
    return Scan(
        str(file),
        opened.name,
        # To the microsecond: a queue tells a later scan from an earlier one by it.
        now.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        files,
        [share.coverage(now) for share in flat],
        # The newest first, within a priority: older ones can wait.
        [gap for share in sorted(flat, key=lambda share: share.age) if (gap := share.gap(now)) is not None],
        sorted({*opened.problems, *problems}),
    )


def write_scan(found: Scan, output: Path, *, anyway: bool = False) -> bool:
    """Write the gaps, unless nobody can be sure that they are some; whether it was done."""
    if not found.is_sure and not anyway:
        return False
    write_gaps_file(output, found.gaps, found.scanned_at)
    return True


def _shares_of(file: Path, expectations: Sequence[Expected], now: datetime) -> list[dict[str, Share]]:
    shares: list[dict[str, Share]] = []
    many = 0
    for expected in expectations:
        shares.append(expected.shares(now.date()))
        many += len(shares[-1])
        if many > MOST_SHARES:
            raise InvalidInput(
                f"{file}: there are more than {MOST_SHARES:,} partitions of types to look at.",
                remedy="Divide it into several files, or begin the partitions later.",
                field="expected",
            )
    return shares


class _Search(Frozen):
    """What one folder is searched for: a pattern of one type, which is that type's first, second …"""

    readers: Sequence[Reader]
    number: int
    shares: Mapping[str, Share]

    def count(self, file: Found) -> bool:
        """Whether it is one of those, and was counted where it belongs."""
        meant = False
        for partition, key in self.readers[self.number].read(file.path):
            meant = True
            # Where several patterns mean a file it is counted once, with the first of them.
            if file.trouble is None and not any(partition == other for other, _ in self._meant_before(file.path)):
                self.shares[partition].add(file.path, key, file.bytes, file.modified)
        return meant

    def _meant_before(self, path: str) -> Iterator[tuple[str, str | None]]:
        for reader in self.readers[: self.number]:
            yield from reader.read(path)


def _count(
    inventory: Inventory, expectations: Sequence[Expected], shares: Sequence[Mapping[str, Share]], problems: list[str]
) -> int:
    """Count what there is; how many files mean something to somebody."""
    searches: dict[str, list[_Search]] = {}
    depths: dict[str, int | None] = {}
    for expected, of_one in zip(expectations, shares, strict=True):
        readers = expected.readers(of_one)
        for number, pattern in enumerate(expected.patterns):
            search, depth = _Search(readers, number, of_one), pattern.depth()
            for folder in expected.folders(pattern, of_one):
                searches.setdefault(folder, []).append(search)
                before = depths.get(folder, 0)
                depths[folder] = None if depth is None or before is None else max(depth, before)
    found = 0
    for folder in sorted(searches):
        for file in inventory.list(folder, depths[folder]):
            if sum(search.count(file) for search in searches[folder]):
                found += 1
                if file.trouble is not None and len(problems) < MOST_PROBLEMS:
                    problems.append(f"{os.fsencode(file.path).decode('utf-8', 'replace')}: {file.trouble}")
    return found
