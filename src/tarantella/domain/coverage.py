"""Field coverage: the share of a run's records that have each field, and when it has fallen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tarantella.domain.event import COVERAGE_FELL, REQUIRED_MISSING, Event, Level
from tarantella.domain.field import Field
from tarantella.domain.struct import Frozen

MISSING = "missing"
UNFIT = "unfit"
Lacking = Mapping[str, Mapping[str, int]]
# Of fewer records a share says little, and a small fall may be chance.
LEAST_RECORDS = 5
SMALLEST_FALL = 0.1


class Coverage(Frozen):
    """How many records of a run have a field."""

    name: str
    records: int
    missing: int = 0
    unfit: int = 0  # something was there, but not of its type
    required: bool = False

    @property
    def found(self) -> int:
        return self.records - self.missing - self.unfit

    @property
    def share(self) -> float:
        return self.found / self.records if self.records else 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "share": round(self.share, 4),
            "records": self.found,
            "missing": self.missing,
            "unfit": self.unfit,
            "required": self.required,
        }


class Fall(Frozen):
    """A field that fewer records have than used to."""

    name: str
    before: float
    now: float


def coverage_of(fields: Iterable[Field], records: int, lacking: Lacking) -> list[Coverage]:
    """The coverage of each field, from what the records lack."""
    return [
        Coverage(
            field.name,
            records,
            min(records, lacking.get(field.name, {}).get(MISSING, 0)),
            min(records, lacking.get(field.name, {}).get(UNFIT, 0)),
            field.required,
        )
        for field in fields
    ]


def added(first: Lacking, second: Lacking) -> dict[str, dict[str, int]]:
    """What both lack together."""
    total = {name: dict(counts) for name, counts in first.items()}
    for name, counts in second.items():
        known = total.setdefault(name, {})
        for kind, count in counts.items():
            known[kind] = known.get(kind, 0) + count
    return total


def falls(now: Sequence[Coverage], earlier: Iterable[Sequence[Coverage]]) -> list[Fall]:
    """The fields that have clearly fallen against the earlier runs of the same job."""
    before: dict[str, list[float]] = {}
    for run in earlier:
        for coverage in run:
            if coverage.records >= LEAST_RECORDS:
                before.setdefault(coverage.name, []).append(coverage.share)
    # Only jobs that ran before need it, and everybody else would pay for decimals and fractions.
    from statistics import median

    found = []
    for coverage in now:
        shares = before.get(coverage.name)
        if shares and coverage.records >= LEAST_RECORDS and median(shares) - coverage.share >= SMALLEST_FALL:
            found.append(Fall(coverage.name, median(shares), coverage.share))
    return found


def fell(found: Sequence[Fall]) -> Event:
    """What a run's history says of it."""
    told = {fall.name: {"before": round(fall.before, 3), "now": round(fall.now, 3)} for fall in found}
    remedy = "the site may have changed; `tarantella preview` shows what each field gives now"
    return Event(COVERAGE_FELL, Level.WARN, {"fields": told, "remedy": remedy})


def required_missing(coverage: Iterable[Coverage]) -> Event | None:
    """What a run's history says of records without what every record must have."""
    lacking = {each.name: each.records - each.found for each in coverage if each.required and each.found < each.records}
    if not lacking:
        return None
    return Event(REQUIRED_MISSING, Level.WARN, {"records_without": lacking})
