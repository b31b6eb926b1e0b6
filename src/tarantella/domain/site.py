"""A host: what people allow it to be asked, and how well it has answered."""

from __future__ import annotations

import math
from collections import Counter

from tarantella.domain.errors import InvalidInput
from tarantella.domain.failure import Failure
from tarantella.domain.learning import Sight, Sights
from tarantella.domain.page import Page
from tarantella.domain.strategy import BROWSER, HTTP
from tarantella.domain.struct import Frozen, Mutable, field

# What was seen so many seconds ago counts half as much as what is seen now.
FADES_BY_HALF = 300.0
SMOOTHING = 0.1

_BOUNDS: tuple[tuple[str, float, float], ...] = (
    ("per_host", 1, 1_000),
    ("delay", 0.0, 3_600.0),
    ("max_rate", 0.001, 1_000.0),
    ("parts", 1, 64),
)


PINS = (HTTP.name, BROWSER.name)


class SitePolicy(Frozen):
    """What a host may be asked. It can only make the runs stricter, never looser: what is not said is left to them."""

    per_host: int | None = None  # requests in flight
    delay: float | None = None  # seconds between the beginnings of two requests
    max_rate: float | None = None  # requests a second
    obey_robots: bool = False  # also for runs that don't care
    paused: bool = False  # nothing is asked for; pages wait
    strategy: str | None = None  # pinned for runs that leave it to us; with HTTP, nothing escalates either
    parts: int | None = None  # lanes that it is split in, each with its share of the limits

    def __post_init__(self) -> None:
        for name, low, high in _BOUNDS:
            value = getattr(self, name)
            if value is not None and not (low <= value <= high):
                raise InvalidInput(
                    f"{name} is {value}, which is not between {low:g} and {high:g}.",
                    field=name,
                    remedy="Choose a value in that range, or none to leave it to the runs.",
                )
        if self.strategy is not None and self.strategy not in PINS:
            raise InvalidInput(
                f"strategy is {self.strategy!r}.",
                field="strategy",
                remedy=f"Choose one of {', '.join(PINS)}, or auto to go by what the site has shown.",
            )

    @property
    def least_delay(self) -> float:
        """Seconds between two requests at least."""
        return max(self.delay or 0.0, 1 / self.max_rate if self.max_rate else 0.0)


FREE = SitePolicy()
POLICY_FIELDS = SitePolicy.__struct_fields__


class Tally(Mutable):
    """What was asked of a host since this was last stored, and what came of it."""

    requests: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    elapsed_ms: int = 0
    slots: float | None = None
    slots_limit: int | None = None
    delay: float | None = None
    seen: dict[Sight, Sights] = field(default_factory=dict)  # of strategies

    def add(self, failure: str | None, elapsed_ms: int, requests: int = 1) -> None:
        """Requests that ended alike, and how long they took together."""
        self.requests += requests
        self.elapsed_ms += elapsed_ms
        # An empty page says nothing against the host.
        if failure is not None and failure != Failure.NEEDS_RENDER:
            self.failures[failure] += requests

    def saw(self, sight: Sight, page: Page, pages: int = 1) -> None:
        """Pages were had with this strategy, or refused to it, and this was the last of them."""
        sights = self.seen.get(sight)
        if sights is None:
            sights = self.seen[sight] = Sights()
        sights.count += pages
        sights.page = page

    def merge(self, other: Tally) -> None:
        self.requests += other.requests
        self.elapsed_ms += other.elapsed_ms
        self.failures += other.failures
        for sight, sights in other.seen.items():
            known = self.seen.setdefault(sight, Sights(page=sights.page))
            known.count += sights.count


def faded(value: float, seconds: float) -> float:
    """How much of a count is left after this time."""
    return value * math.pow(0.5, max(0.0, seconds) / FADES_BY_HALF)


def smoothed(usual: float | None, value: float) -> float:
    return value if usual is None else usual + SMOOTHING * (value - usual)
