"""Collects outcomes and settles them, one transaction at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from operator import attrgetter

from tarantella.domain.errors import StoreBroken, StoreBusy
from tarantella.domain.failure import Failure
from tarantella.domain.outcome import LaneNews, Outcome
from tarantella.domain.page import PageState
from tarantella.domain.url import redact
from tarantella.engine import slices
from tarantella.engine.clock import Clock
from tarantella.log import log
from tarantella.store.connection import ValueRefused
from tarantella.store.database import Database
from tarantella.store.settle import MAX_ROWS, Settled, settle

# What the drivers and encoders raise for a value that they can't store: trying the same again would not help.
REFUSED = (ValueRefused, TypeError, ValueError, OverflowError)

MAX_WAITING_BYTES = 8_000_000
# So much is settled without waiting for more: the rest of the room is for what comes meanwhile.
ENOUGH_BYTES = MAX_WAITING_BYTES // 2
# A short wait fills the batch: fewer, larger transactions cost less than many small ones. Where pages come fast, a longer
# one pays, and nobody waits for any of them.
GATHER_SECONDS = 0.01
LONGEST_GATHER = 0.1
FAST = 500.0  # pages a second
ROWS_OF_A_PAGE = 4  # without those that it links to
PAGES_AT_ONCE = MAX_ROWS // ROWS_OF_A_PAGE
# What has so few bytes takes the database a few milliseconds, if nobody takes the interpreter from it meanwhile.
LIGHT_BYTES = 2_000_000
RETRY_SECONDS = 1.0
LONGEST_SETTLE = 2.0
_is_partial = attrgetter("partial")
SILENT = f"the database has not answered for more than {LONGEST_SETTLE:.0f} s; another program may hold it"


class Settler:
    """The only way for outcomes into the store."""

    def __init__(
        self,
        database: Database,
        worker_id: str,
        *,
        max_running: int,
        clock: Clock,
        news: Callable[[], Iterable[LaneNews]],
        settled: Callable[[Sequence[Outcome], Settled], None],
        run_is_full: Callable[[str], bool] = lambda _run_id: False,
        spread: Callable[[list[Outcome]], list[Outcome]] = list,
    ) -> None:
        self._database = database
        self._worker_id = worker_id
        self._max_running = max_running
        self._clock = clock
        self._news = news
        self._settled = settled
        self._run_is_full = run_is_full
        self._spread = spread
        self._waiting: list[Outcome] = []
        self._settling: list[Outcome] = []
        self._weights: list[int] = []  # in bytes, of what waits and of what is being settled
        self._weight = 0
        self._wake = asyncio.Event()
        self._hurry = asyncio.Event()
        self._at_once = asyncio.Event()
        self._finds = False  # whether what waits has found pages
        self._idle = asyncio.Event()
        self._idle.set()
        self._durable = 0  # so many of those that wait, from the first to the last that has to reach the disk
        self._settling_since: float | None = None
        self._refusal: str | None = None

    @property
    def is_full(self) -> bool:
        """Whether no more pages should be started until some are settled."""
        in_time = self._settling_since is None and self._refusal is None  # as nearly always
        return self._weight > MAX_WAITING_BYTES or (not in_time and self.trouble is not None)

    @property
    def trouble(self) -> str | None:
        """What keeps results from being stored, if anything does."""
        if self._refusal is not None or self._settling_since is None:
            return self._refusal
        return SILENT if self._clock.monotonic() - self._settling_since > LONGEST_SETTLE else None

    @property
    def is_idle(self) -> bool:
        """Whether everything that was put has been settled."""
        return self._idle.is_set()

    def put(self, outcome: Outcome, *, durable: bool = False) -> None:
        if not self._waiting:
            self._idle.clear()
            self._wake.set()
        if outcome.links:
            self._finds = True
        weight = outcome.weight
        self._waiting.append(outcome)
        self._weights.append(weight)
        self._weight += weight
        if durable:
            self._durable = len(self._weights)
        if self._weight >= ENOUGH_BYTES:
            self._at_once.set()
            self._hurry.set()

    def hurry(self, *, is_all: bool = False) -> None:
        """Somebody has nothing to start: pages that were found are wanted now; and where this is all, nothing more will come."""
        if is_all:
            self._at_once.set()
        if self._finds or is_all:
            self._hurry.set()

    def poke(self) -> None:
        """A lane has news without a page."""
        self._idle.clear()
        self._wake.set()

    def holds(self, run_id: str) -> bool:
        """Whether outcomes of this run still wait to be settled."""
        return not self._idle.is_set() and any(o.page.run_id == run_id for o in (*self._waiting, *self._settling))

    async def drained(self) -> None:
        """Wait until everything that was put has been settled."""
        await self._idle.wait()

    async def run(self) -> None:
        gather, since = GATHER_SECONDS, self._clock.monotonic()
        while True:
            await self._wake.wait()
            await self._gather(gather)
            self._wake.clear()
            now = self._clock.monotonic()
            gather, since = gather_seconds(len(self._waiting), now - since), now
            await self._settle_next()
            while self._has_enough:
                await self._settle_next()
            if rest := list(self._news()):
                await self._settle([], rest)
            if self._waiting:
                # Too few came meanwhile to be worth a transaction yet.
                self._wake.set()
            else:
                self._idle.set()

    async def _gather(self, seconds: float) -> None:
        """Let more come, unless somebody waits for what there is already, or it is enough."""
        self._at_once.clear()
        self._hurry.clear()
        if not self._has_enough:
            await _passed(self._at_once, min(seconds, GATHER_SECONDS))
        if seconds > GATHER_SECONDS and not self._has_enough:
            await _passed(self._hurry, seconds - GATHER_SECONDS)
        self._finds = False

    @property
    def _has_enough(self) -> bool:
        """Whether what waits is worth a transaction of its own; not to be asked during a settle, whose weight would count too."""
        return len(self._waiting) >= PAGES_AT_ONCE or self._weight >= ENOUGH_BYTES

    async def _settle_next(self) -> None:
        if not self._waiting:
            return
        batch = self._settling = self._spread(self._next_batch())
        while slices.is_large(batch[0]):
            batch = [await self._settle_first_slice(batch[0])]
        await self._settle(batch, list(self._news()))

    def _next_batch(self) -> list[Outcome]:
        """The first that wait, as many as one transaction should take; one with very many links comes alone."""
        first = self._waiting[:PAGES_AT_ONCE]
        links = [len(outcome.links) for outcome in first]
        count = _fitting(links) if any(links) else len(first)
        batch, self._waiting = first[:count], self._waiting[count:]
        return batch

    async def _settle_first_slice(self, outcome: Outcome) -> Outcome:
        """Store some of the links of a page that has very many; what is left of it to store."""
        first, rest = slices.first_slice(outcome)
        await self._settle([first], list(self._news()))
        return slices.without_links(rest) if self._run_is_full(rest.page.run_id) else rest

    async def _settle(self, batch: list[Outcome], news: list[LaneNews], *, dropped: int = 0) -> None:
        """Store a batch; send it again when it is unknown whether it was, and halve it when its data is refused."""
        self._settling_since = self._clock.monotonic()
        while True:
            now = self._clock.wall()
            work = partial(
                settle, worker_id=self._worker_id, outcomes=batch, news=news, max_running=self._max_running, now=now
            )
            light = sum(self._weights[: len(batch)]) < LIGHT_BYTES
            try:
                result = await self._database.write(work, durable=self._durable > 0, name="settle", here=light)
            except (StoreBusy, StoreBroken) as error:
                if self._refusal != str(error):
                    # Once: it is tried every second, and whoever watches sees that it goes on.
                    self._refusal = str(error)
                    log.warning(f"Results can't be stored; trying again. {error}", action="settle_again")
                await asyncio.sleep(RETRY_SECONDS)
                continue
            except REFUSED as error:
                await self._settle_apart(batch, news, error)
                return
            if self._refusal is not None:
                log.warning("Results are stored again", action="settled_again")
            self._refusal = self._settling_since = None
            result.lost += dropped
            self._make_room(batch)
            self._settled(batch, result)
            return

    def _make_room(self, batch: Sequence[Outcome]) -> None:
        """These are stored. Whoever is told of it may look at once whether more can be started."""
        pages = min(len(batch) - sum(map(_is_partial, batch)), len(self._settling))
        self._settling = self._settling[pages:]
        self._weight -= sum(self._weights[:pages])
        del self._weights[:pages]
        self._durable = max(0, self._durable - pages)

    async def _settle_apart(self, batch: list[Outcome], news: list[LaneNews], error: Exception) -> None:
        if len(batch) > 1:
            middle = len(batch) // 2
            await self._settle(batch[:middle], news)
            await self._settle(batch[middle:], [])
        elif batch:
            log.error("A page can't be stored", action="unstorable", url=redact(batch[0].page.url), error=str(error))
            if batch[0].detail == "unstorable":
                raise error
            page = batch[0].page
            unstorable = Outcome(page, PageState.FAILED, reason=Failure.UNKNOWN, detail="unstorable", charged=True)
            await self._settle([unstorable], news, dropped=1)
        else:
            raise error


async def _passed(event: asyncio.Event, seconds: float) -> None:
    """Wait until these seconds have passed, or this has happened."""
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)


def _fitting(links: Sequence[int]) -> int:
    """How many pages, each with so many links, one transaction should take."""
    rows = 0
    for count, found in enumerate(links):
        rows += ROWS_OF_A_PAGE + found
        if rows > MAX_ROWS or found > slices.LINKS_AT_ONCE:
            return max(1, count)
    return len(links)


def gather_seconds(pages: int, seconds: float) -> float:
    """How long to wait for more pages, when so many have come in this time."""
    pace = pages / max(seconds, GATHER_SECONDS)
    return min(LONGEST_GATHER, PAGES_AT_ONCE / pace) if pace >= FAST else GATHER_SECONDS
