"""Most of the outcomes that are settled together differ in nothing that is counted: they are counted together, too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import attrgetter

from tarantella.domain.learning import Sight
from tarantella.domain.outcome import FROM_CACHE, Outcome
from tarantella.domain.page import PageState
from tarantella.domain.struct import Struct

_records = attrgetter("records")
_elapsed = attrgetter("attempt.elapsed_ms")
_bytes = attrgetter("attempt.bytes")


class Group(Struct, frozen=True):
    """Outcomes of one host that ended in the same way."""

    lane: str
    state: PageState
    reason: str | None
    sights: tuple[Sight, ...]
    strategy: str | None  # by which the host was asked; None where it wasn't
    failure: str | None
    outcomes: Sequence[Outcome]

    @property
    def records(self) -> int:
        return sum(map(len, map(_records, self.outcomes)))

    @property
    def elapsed_ms(self) -> int:
        return sum(map(_elapsed, self.outcomes)) if self.strategy is not None else 0

    @property
    def bytes(self) -> int:
        return sum(map(_bytes, self.outcomes)) if self.strategy is not None else 0


def grouped(outcomes: Iterable[Outcome]) -> list[Group]:
    """All of them, each with those like it."""
    groups: dict[tuple[str, PageState, str | None, tuple[Sight, ...], str | None, str | None], list[Outcome]]
    groups = defaultdict(list)
    for outcome in outcomes:
        tried = outcome.attempt
        if tried is None or tried.protocol == FROM_CACHE:
            strategy = failure = None
        else:
            strategy, failure = tried.strategy, tried.failure
        groups[outcome.page.lane, outcome.state, outcome.reason, outcome.sights, strategy, failure].append(outcome)
    return [Group(*kind, outcomes) for kind, outcomes in groups.items()]
