"""What an attempt led to. Work returns an outcome; the settle alone turns outcomes into state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from tarantella.domain.breaker import Breaker
from tarantella.domain.cookie import Cookie
from tarantella.domain.event import Event
from tarantella.domain.learning import Sight
from tarantella.domain.page import Page, PageKind, PageState
from tarantella.domain.refused import NOTHING_REFUSED, Refused
from tarantella.domain.struct import Frozen, Struct
from tarantella.domain.trap import TrapNote

if TYPE_CHECKING:
    from tarantella.domain.recording import News


class Link(Struct, frozen=True):
    """A page that was found and belongs to the run."""

    url: str
    fingerprint: str
    lane: str
    depth: int
    kind: PageKind = PageKind.PAGE


# The protocol of an answer for which nobody was asked.
FROM_CACHE = "cache"


class Attempt(Struct, frozen=True):
    """One try at a page, as `explain` will tell it."""

    strategy: str
    started_at: float
    elapsed_ms: int
    decision: str
    status: int | None = None
    bytes: int = 0
    failure: str | None = None
    detail: str | None = None
    protocol: str | None = None  # how the answer came, if there was one


class Move(Frozen):
    """A redirect led the page to another lane: same identity, new address."""

    url: str
    lane: str
    hops: int


class Body(Frozen):
    """A response kept for later extraction, compressed."""

    content_type: str
    compressed: bytes


NOTHING_LACKING: Mapping[str, Mapping[str, int]] = MappingProxyType({})


class Outcome(Struct, frozen=True):
    """All that one page's attempt changes, to be stored together or not at all."""

    page: Page
    state: PageState
    attempt: Attempt | None = None
    reason: str | None = None
    detail: str | None = None
    charged: bool = False
    next_at: float | None = None
    strategy: str | None = None
    move: Move | None = None
    status: int | None = None
    final_url: str | None = None
    final_fingerprint: str | None = None
    records: tuple[str, ...] = ()
    body: Body | None = None
    links: Sequence[Link] = ()
    refused: Mapping[str, Refused] = NOTHING_REFUSED
    events: tuple[Event, ...] = ()
    root: str | None = None
    cookies: tuple[Cookie, ...] = ()  # that the run knows since this attempt
    traps: tuple[TrapNote, ...] = ()
    lacking: Mapping[str, Mapping[str, int]] = NOTHING_LACKING  # records without a field: missing or unfit
    sights: tuple[Sight, ...] = ()  # what it shows of strategies, where that is not what its attempt says
    recording: News | None = None  # what was learned of a question that can be replayed
    partial: bool = False  # more of the same page follows: it stays where it is until the last of it is stored

    @property
    def weight(self) -> int:
        """Roughly how many bytes it holds in memory until it is settled."""
        weight = 1_000 + 350 * len(self.links)
        for record in self.records:
            weight += len(record)
        return weight + len(self.body.compressed) if self.body is not None else weight


class LaneNews(Frozen):
    """What an owner learned of its lane's host since it last said so."""

    lane: str
    not_before: float
    breaker: Breaker
    clean: bool
