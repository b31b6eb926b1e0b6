"""A lane in its owner's hands: whether its host may be asked now, and what its answers teach."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tarantella.domain.backoff import RETRY_AFTER_CAP
from tarantella.domain.breaker import CLOSED, STAYS_OPEN, Breaker, BreakerState
from tarantella.domain.failure import Failure, trips_breaker
from tarantella.domain.learning import climbs, recent
from tarantella.domain.outcome import LaneNews
from tarantella.domain.parts import host_of, part_of, share
from tarantella.domain.strategy import BROWSER, HTTP
from tarantella.domain.struct import replace
from tarantella.domain.throttle import Throttle
from tarantella.engine.at_hand import AtHand
from tarantella.engine.clock import Clock
from tarantella.engine.served import ServedRun
from tarantella.store.lanes import Lane
from tarantella.store.sites import UNRULED, Ruling

FOREVER = 1e9


class OwnedLane:
    """The host's politeness and its breaker, beside the pages at hand."""

    def __init__(self, lane: Lane, clock: Clock) -> None:
        self.name = lane.name
        self.host = host_of(lane.name)
        self.part = part_of(lane.name)
        self.clock = clock
        self.breaker: Breaker = CLOSED if lane.breaker == CLOSED else lane.breaker
        self.throttle = self._rendered = Throttle(limit=1)
        self.tasting = lane.unclean_deaths >= 2
        self.pages = AtHand()
        self.active = 0
        self.delay = 0.0
        self.heeded: tuple[object, str] | None = None  # the rules of robots.txt that were last looked at, and for whom
        self.idle_since: float | None = None
        self.releasing = False
        self.lacks: str | None = None  # a strategy that a page here needs, and its owner has not
        self._crawl_delays: dict[object, float] = {}
        self._not_before = lane.not_before
        # A wait becomes monotonic when it is taken over: a clock that jumps can't stretch it.
        self._waits_until = clock.monotonic() + min(max(0.0, lane.not_before - clock.wall()), RETRY_AFTER_CAP)
        self._wait_began = 0.0
        self._next_dial = 0.0
        self._dial_before = 0.0
        self._settled_here = 0
        self._clean_told = False
        self._changed = False
        self._breaker_resets = lane.breaker_resets
        self.plain_ok = self.plain_refused = 0.0  # of the last pages over HTTP
        self.to_compare: dict[int, list[Mapping[str, Any]]] = {}  # by page: what a cheaper strategy gave
        if self.breaker.is_hopeless:
            # That was about the pages that waited then. Those that wait now have seen no probe fail yet.
            self.forget_probes()

    # -- whether the host may be asked

    def limits(self, runs: Mapping[str, ServedRun], ruling: Ruling = UNRULED) -> None:
        """The strictest decides: of the runs that stand here, and of what people have said of the host."""
        policy = ruling.policy
        self.paused, self.obeys_robots = policy.paused, policy.obey_robots
        self.pinned, self._learned = policy.strategy, ruling.learned
        self._choose()
        if ruling.breaker_resets > self._breaker_resets:
            self._breaker_resets = ruling.breaker_resets
            self._set_breaker(CLOSED)
        served = [runs[run_id] for run_id in self.pages.run_ids if run_id in runs]
        if served:
            most = policy.per_host or FOREVER
            parts = policy.parts or 1
            limits = [min(run.spec.per_host, int(most)) for run in served]
            self._parts = parts
            self.throttle = self.throttle.limited_to(min(share(limit, parts, self.part) for limit in limits))
            self.pages.serve(self.throttle.limit)
            # Several parts that each keep their distance keep it together only if each keeps it several times.
            self._floor = parts * max(policy.least_delay, *(run.spec.delay for run in served))
            before, self.delay = self.delay, max(self._floor, parts * self._crawl_delay)
            if self.delay < before:
                # Whoever allows more now does not want to wait for what was allowed before.
                self._next_dial = min(self._next_dial, self.clock.monotonic() + self.delay)
            for run in served:
                run.minds_robots |= policy.obey_robots

    paused = False
    obeys_robots = False
    pinned: str | None = None  # the strategy that people have chosen
    prefers: str | None = None  # the strategy that pages start with, where that is not the usual one
    _learned: str | None = None
    _floor = 0.0
    _parts = 1
    _crawl_delay = 0.0

    def set_crawl_delay(self, whose: object, seconds: float) -> bool:
        """What one server of the host asks of one user agent: the longest counts. Whether it is news."""
        if is_news := self._crawl_delays.get(whose, 0.0) != seconds:
            self._crawl_delays[whose] = seconds
            self._crawl_delay = max(self._crawl_delays.values())
            self.delay = max(self._floor, self._parts * self._crawl_delay)
        if self.delay:
            # The page for which robots.txt was read is about to be asked for; the next one keeps its distance from it.
            self._next_dial = max(self._next_dial, self.clock.monotonic() + self.delay)
        return is_news

    def wait_time(self, now: float | None = None) -> float:
        """Seconds until the next request may start; 0 for now, FOREVER until something in flight ends."""
        if now is None:
            now = self.clock.monotonic()
        if self._waits_until > now or self._next_dial > now or self.breaker is not CLOSED or self.paused:
            if (wait := self._wait_time(now)) > 0:
                return wait
        return 0.0 if self.active + 1 <= self.throttle.slots else FOREVER

    def _wait_time(self, now: float) -> float:
        """How long somebody who asks no more than the host can take has to wait nevertheless."""
        if self.paused:
            return FOREVER
        wait = max(0.0, self._waits_until - now, self._next_dial - now)
        if self.breaker.state is BreakerState.OPEN:
            return max(wait, min(self.breaker.open_until - self.clock.wall(), 3_600.0))
        if self.breaker.state is BreakerState.HALF_OPEN and self.active:
            return FOREVER  # one probe at a time
        return wait

    def start(self) -> None:
        """A request begins."""
        self.active += 1
        self.idle_since = None
        if self.breaker is not CLOSED and self.breaker.state is BreakerState.OPEN:
            self._set_breaker(self.breaker.probing(self.clock.wall()))
        if self.delay:
            self._dial_before, self._next_dial = self._next_dial, self.clock.monotonic() + self.delay

    def end(self) -> None:
        self.active -= 1

    @property
    def left_alone_until(self) -> float | None:
        """Until when whoever has the lane next must keep the distance from our last request, by the wall clock."""
        distance = self._next_dial - self.clock.monotonic()
        return self.clock.wall() + distance if distance > 0 else None

    # -- what answers teach

    @property
    def is_usual(self) -> bool:
        """Whether an ordinary answer from this host says nothing but that it went well."""
        return self.breaker is CLOSED and not self.to_compare

    def refused_plain(self) -> bool:
        """A page was refused over HTTP; True if from now on pages start higher up."""
        self.plain_ok, self.plain_refused = recent(self.plain_ok, self.plain_refused + 1)
        before = self.prefers
        self._choose()
        return self.prefers != before

    def _choose(self) -> None:
        if self.pinned is not None:
            self.prefers = self.pinned if self.pinned != HTTP.name else None
        elif climbs(self.plain_ok, self.plain_refused):
            self.prefers = BROWSER.name
        else:
            self.prefers = self._learned

    def succeeded(self, latency: float, *, rendered: bool = False) -> None:
        if rendered:
            # What is quick for a browser would be slow for HTTP: each is measured by its own, and both share the slots.
            self._rendered = self._rendered._replace(limit=self.throttle.limit, slots=self.throttle.slots)
            self._rendered = self._rendered.after_success(latency)
            self.throttle = self.throttle._replace(slots=self._rendered.slots)
        else:
            self.throttle = self.throttle.after_success(latency)
        if self.breaker is not CLOSED:
            self._set_breaker(self.breaker.after_success())

    def spared(self) -> None:
        """Nothing was asked of the host after all, so nobody has to keep a distance from that."""
        self._next_dial = min(self._next_dial, self._dial_before)

    def answered(self) -> None:
        """The host lives, though it did not give a page."""
        self._set_breaker(self.breaker.after_success())

    def failed(self, failure: Failure, status: int | None) -> None:
        self.throttle = self.throttle.after_trouble()
        if trips_breaker(failure, status):
            self._set_breaker(self.breaker.after_failure(self.clock.wall()))

    def wait(self, seconds: float) -> bool:
        """The host asked for a pause; True if that is news."""
        now = self.clock.monotonic()
        news = self._waits_until <= now
        if news:
            self._wait_began = now
        self._waits_until = max(self._waits_until, now + seconds)
        self._not_before = self.clock.wall() + (self._waits_until - now)
        self._changed = True
        return news

    def excuses(self, started: float) -> bool:
        """Whether a request was already under way when the host first said that it wants a pause."""
        return started < self._wait_began

    def forget_probes(self) -> None:
        """Whoever comes next waits for the breaker again, and probes again."""
        self._set_breaker(replace(self.breaker, failed_probes=0))

    def follow_clock(self) -> None:
        """The wall clock was set: what is noted in its time goes with it."""
        now = self.clock.wall()
        self._not_before = now + (self._waits_until - self.clock.monotonic())
        if self.breaker is not CLOSED:
            self.breaker = replace(self.breaker, open_until=min(self.breaker.open_until, now + STAYS_OPEN))

    def _set_breaker(self, breaker: Breaker) -> None:
        if breaker != self.breaker:
            self.breaker = breaker
            self._changed = True

    # -- what the settle stores

    def settled(self, page_ids: Collection[int]) -> None:
        self.pages.settled(page_ids)
        self._settled_here += len(page_ids)

    def news(self, batch: int) -> LaneNews | None:
        """What has to be stored of this lane, if anything changed."""
        # A lane that was just taken holds nothing yet either: that alone is no proof that it kills nobody.
        drained = self._settled_here > 0 and not self.pages.held
        clean = not self._clean_told and (self._settled_here >= batch or drained)
        if not self._changed and not clean:
            return None
        self._changed = False
        if clean:
            self._clean_told = True
            self.tasting = False
        # The clock may have been set since this was noted, and the others may know already.
        self.follow_clock()
        return LaneNews(self.name, self._not_before, self.breaker, clean)
