"""Gaps: what should be there and is not, each with the scraper that can fetch it."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tarantella.domain.run import Priority
from tarantella.domain.struct import Frozen

LONGEST_NAME = 200  # characters of an id, a source, a scraper
LONGEST_REASON = 2_000
MOST_PARAMS_BYTES = 1_000_000
DEEPEST = 50  # what is stored, or told to a script, is written as JSON again, which goes only so deep
MOST_MINUTES = 7 * 24 * 60.0
PENDING = "pending"
# What every gap has; all else that it says is for its scraper.
KEYS = ("id", "priority", "source", "scraper", "estimated_time_minutes", "reason", "status")
PRIORITIES = {priority.name: priority for priority in Priority}


class Gap(Frozen):
    """One thing that is missing or stale."""

    id: str
    priority: Priority
    source: str
    scraper: str
    params: Mapping[str, Any] = {}
    estimated_minutes: float | None = None
    reason: str | None = None
    status: str = PENDING

    @property
    def fingerprint(self) -> str:
        """The same for the same gap, whatever a later scan calls it."""
        said = json.dumps([self.source, self.scraper, self.params], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def to_json(self) -> dict[str, Any]:
        """As it stands in a gaps file."""
        told: dict[str, Any] = {
            "id": self.id,
            "priority": self.priority.name,
            "source": self.source,
            "scraper": self.scraper,
            **self.params,
        }
        if self.estimated_minutes is not None:
            told["estimated_time_minutes"] = _plain(self.estimated_minutes)
        if self.reason is not None:
            told["reason"] = self.reason
        return {**told, "status": self.status}


class Problem(Frozen):
    """An entry of a gaps file that can't be understood."""

    place: str  # `tasks.3`
    id: str | None
    told: str


class GapsRead(Frozen):
    """What a gaps file says."""

    gaps: Sequence[Gap]
    problems: Sequence[Problem]
    generated_at: str | None = None


class NotGaps(ValueError):
    """A document that is no gaps file."""


def gaps_of(document: Any) -> GapsRead:
    """The gaps in a document. An entry that can't be understood is told of, and costs no other; raises NotGaps."""
    if not isinstance(document, Mapping):
        raise NotGaps("It is not a JSON object.")
    tasks = document.get("tasks")
    if not isinstance(tasks, list):
        raise NotGaps("It has no list `tasks`.")
    gaps: list[Gap] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    for number, said in enumerate(tasks):
        place = f"tasks.{number}"
        try:
            gap = _gap_of(said)
            if gap.id in seen:
                raise NotGaps(f"The id {gap.id!r} was there before; the first one counts.")
        except NotGaps as error:
            problems.append(Problem(place, _named(said), str(error)))
        else:
            seen.add(gap.id)
            gaps.append(gap)
    generated_at = document.get("generated_at")
    return GapsRead(gaps, problems, generated_at if isinstance(generated_at, str) else None)


def document_of(gaps: Sequence[Gap], generated_at: str) -> dict[str, Any]:
    """A gaps file: the gaps in the order in which they are filled, and what they add up to."""
    ordered = sorted(gaps, key=lambda gap: gap.priority)  # a stable sort: within a priority they stay in their order
    priorities = Counter(gap.priority.name for gap in ordered)
    return {
        "generated_at": generated_at,
        "total_tasks": len(ordered),
        "by_priority": {name: priorities[name] for name in PRIORITIES},
        "by_source": dict(sorted(Counter(gap.source for gap in ordered).items())),
        "by_scraper": dict(sorted(Counter(gap.scraper for gap in ordered).items())),
        "estimated_total_minutes": _plain(round(sum(gap.estimated_minutes or 0.0 for gap in ordered), 3)),
        "tasks": [gap.to_json() for gap in ordered],
    }


def _gap_of(said: Any) -> Gap:
    if not isinstance(said, Mapping):
        raise NotGaps("It is not an object.")
    priority = said.get("priority")
    if not isinstance(priority, str) or priority.upper() not in PRIORITIES:
        raise NotGaps(f"The priority {_shown(priority)} is none of {', '.join(PRIORITIES)}.")
    minutes = said.get("estimated_time_minutes")
    if minutes is not None and not (_is_number(minutes) and 0 < minutes <= MOST_MINUTES):
        raise NotGaps(f"estimated_time_minutes is {_shown(minutes)}, not a number between 0 and {MOST_MINUTES:g}.")
    reason, status = said.get("reason"), said.get("status", PENDING)
    params = {name: value for name, value in said.items() if name not in KEYS}
    if _is_deeper(params, DEEPEST):
        raise NotGaps(f"It is nested more than {DEEPEST} levels deep.")
    if len(json.dumps(params)) > MOST_PARAMS_BYTES:
        raise NotGaps(f"It says more than {MOST_PARAMS_BYTES:,} bytes.")
    return Gap(
        _text(said, "id"),
        PRIORITIES[priority.upper()],
        _text(said, "source"),
        _text(said, "scraper"),
        params,
        float(minutes) if minutes is not None else None,
        reason[:LONGEST_REASON] if isinstance(reason, str) else None,
        status if isinstance(status, str) else PENDING,
    )


def _is_deeper(value: Any, levels: int) -> bool:
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return levels < 0 or any(_is_deeper(each, levels - 1) for each in inside)


def _named(said: Any) -> str | None:
    """What an entry is called that can't be understood otherwise."""
    try:
        return _text(said, "id") if isinstance(said, Mapping) else None
    except NotGaps:
        return None


def _text(said: Mapping[str, Any], name: str) -> str:
    value = said.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not 0 < len(value.strip()) <= LONGEST_NAME or "\0" in value:
        raise NotGaps(f"{name} is {_shown(value)}, not a text of 1 to {LONGEST_NAME} characters.")
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _shown(value: Any) -> str:
    return "missing" if value is None else repr(value)[:60]


def _plain(number: float) -> float | int:
    return int(number) if number == int(number) else number
