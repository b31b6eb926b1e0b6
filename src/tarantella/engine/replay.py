"""The way of a page that is replayed: the recorded question is asked instead, and what its list leads to becomes pages.

Each part of a list is a page of the run, with its own turn at its host's gate and its own settle: whoever dies leaves
nothing undone and nothing done twice. Where a recording does not work any more, the start page goes to the browser.
"""

from __future__ import annotations

import asyncio
from functools import partial
from hashlib import blake2b
from time import time

from tarantella.domain.cookie import Cookie, can_be_sent
from tarantella.domain.decide import GiveUp, Situation, decide
from tarantella.domain.event import (
    BREAKER_OPENED,
    HOST_WAITS,
    RECORDING_STOPPED,
    STRATEGY_ESCALATED,
    Event,
    Level,
)
from tarantella.domain.failure import RETRYABLE_STATUS, Failure
from tarantella.domain.outcome import Attempt, Link, Move, Outcome
from tarantella.domain.page import Page, PageState, Skip
from tarantella.domain.recording import Recording, Stopped, Worked, purpose_of
from tarantella.domain.recording_paging import Position, position_of, slot_value
from tarantella.domain.recording_request import filled, filled_url, hidden_url, with_slot
from tarantella.domain.refused import NOTHING_REFUSED, Refused
from tarantella.domain.strategy import API_REPLAY
from tarantella.domain.struct import replace
from tarantella.domain.url import Unfetchable, Url, fingerprint, redact, resolve, stored
from tarantella.engine.answering import page_cut, record_of, told_of_breaker
from tarantella.engine.attempt import request_of, went_wrong, with_cookies
from tarantella.engine.failing import MAX_DETAIL, failed, page_failed
from tarantella.engine.lane import OwnedLane
from tarantella.engine.robots import HostMustWait, robots_refusal
from tarantella.engine.served import ServedRun
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit
from tarantella.extractors.page import Extracted
from tarantella.fetchers.contract import Request
from tarantella.fetchers.link_header import next_link
from tarantella.log import log
from tarantella.store import recordings
from tarantella.store.database import Database
from tarantella.store.recordings import Kept

STRATEGY = API_REPLAY.name
NONE_YET = "there is no recording yet"
MOST_KNOWN = 64
_HERE = "here"  # the position of a part whose whole address is known


class Replayer:
    """Replays recordings; those that runs are at are kept in memory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[str, Kept] = {}

    async def attempt(self, page: Page, lane: OwnedLane, run: ServedRun, tools: Tools) -> Outcome:
        """Ask the recorded question for one page, and say what should become of it."""
        began = (tools.clock.wall(), tools.clock.monotonic())
        replay: _Replay | None = None
        try:
            position = position_of(page.url)
            if position is not None and not page.is_start:
                kept = await self._of_part(position.recording)
                if kept is None:
                    return _orphaned(page)
            else:
                kept = await self._of_job(page, run, began[0])
                if kept is None:
                    return _browser_takes_over(page, run, tools, NONE_YET)
                position = Position(kept.id)
            replay = _Replay(page, lane, run, tools, kept, position)
            if replay.url.lane != lane.host:
                # Its host has a gate of its own.
                return Outcome(
                    page, PageState.PENDING, next_at=began[0], move=Move(replay.address, replay.url.lane, page.hops)
                )
            return await replay.attempt()
        except (HostMustWait, asyncio.CancelledError):
            raise
        except Exception as error:
            log.exception("A replay went wrong", action="attempt_broken", url=redact(page.url))
            if replay is not None and page.is_start and page.charged:
                return replay.stopped(f"it can't be replayed: {type(error).__name__}", None)
            return went_wrong(page, lane, run, tools, error, began)

    async def _of_part(self, recording_id: str) -> Kept | None:
        """The recording that a page is a part of, whatever became of it since."""
        if recording_id not in self._known:
            self._remember(await self._database.read(partial(recordings.find, recording_id=recording_id)))
        return self._known.get(recording_id)

    async def _of_job(self, page: Page, run: ServedRun, now: float) -> Kept | None:
        """The recording that a page's job has now."""
        job_id = run.run.job_id
        if job_id is None:
            return None
        purpose = purpose_of(page.asked_url or page.url, run.spec.fields, run.spec.item)
        kept = await self._database.read(partial(recordings.current, job_id=job_id, purpose=purpose, now=now))
        self._remember(kept)
        return kept

    def _remember(self, kept: Kept | None) -> None:
        if kept is not None:
            if len(self._known) >= MOST_KNOWN:
                self._known.pop(next(iter(self._known)))
            self._known[kept.id] = kept


class _Replay:
    """One part of a recording's list, asked for once."""

    def __init__(
        self, page: Page, lane: OwnedLane, run: ServedRun, tools: Tools, kept: Kept, position: Position
    ) -> None:
        self.page, self.lane, self.run, self.tools, self.position = page, lane, run, tools, position
        self.kept = kept
        self.recording: Recording = kept.recording
        paging = kept.recording.reading.paging
        # Where the answer gives whole addresses, that of a page is one of them.
        self.given = paging is not None and paging.kind in ("address", "link") and not position.is_first
        own = page.url if self.given else None
        self.address = address_of(self.recording, position, own)
        self.url: Url = resolve(self.address)

    async def attempt(self) -> Outcome:
        # Loaded by the first replay: it knows the types of values.
        from tarantella.extractors.recorded import Recorded

        page, lane, run, tools = self.page, self.lane, self.run, self.tools
        if run.spec.obey_robots or lane.obeys_robots:
            refusal = await robots_refusal(page, self.url, lane, run, tools)
            if refusal is not None:
                return self._refused(refusal)
        began_at, began = tools.clock.wall(), tools.clock.monotonic()
        wants = replace(run.wants, recorded=Recorded(self.recording.reading, self.position), links=False, aside=False)
        visitor = tools.taster if lane.tasting or page.kills else tools.visitors[STRATEGY]
        visit = await visitor.visit(self._request(), wants, False)
        # What was sent has secrets in it; what is told has not.
        visit = visit._replace(url=self.url.href)
        elapsed = tools.clock.monotonic() - began - visit.reading
        tried = Attempt(
            STRATEGY, began_at, round(elapsed * 1000), "done", visit.status, visit.size, protocol=visit.protocol
        )
        return with_cookies(self._become(visit, tried, began, elapsed), visit, run, tools)

    def _refused(self, refusal: Outcome) -> Outcome:
        """What robots.txt keeps us from asking, or nobody answers for, a start page can still be rendered without."""
        again = refusal.state is PageState.PENDING and not self.page.charged
        if again or not self.page.is_start:
            return refusal
        closed = "robots.txt asks crawlers to stay away from it"
        return self.stopped(closed if refusal.reason == Skip.ROBOTS else refusal.detail or "", refusal.attempt)

    def _request(self) -> Request:
        """The question with its secrets, those of its cookies included that the site has not replaced since."""
        recording, paging, position = self.recording, self.recording.reading.paging, self.position
        template = filled(recording.template, recording.secrets)
        if paging is not None and paging.slot:
            template = with_slot(template, paging.slot, slot_value(paging, position))
        href = template.url
        if self.given:
            href = filled_url(self.url.href, recording.template, recording.secrets)
        request = request_of(self.page, resolve(href), self.run, self.tools)
        headers = dict(template.headers)
        options = self.run.options
        # The job's own headers may have changed since.
        own = {name.lower() for name in options.headers} if self.url.server in options.trusted_servers else set()
        cookies = _cookies(headers.pop("cookie", ""), self.url, request.cookies)
        return request._replace(
            headers={name: value for name, value in headers.items() if name not in own},
            method=template.method,
            body=template.body.encode() if template.body is not None else None,
            cookies=(*request.cookies, *cookies),
        )

    def _become(self, visit: Visit, tried: Attempt, began: float, elapsed: float) -> Outcome:
        if visit.failure is not None:
            return self._failed(visit, tried, began)
        was = self.lane.breaker.state
        self.lane.answered()
        return told_of_breaker(self._answered(visit, tried, elapsed), self.lane, was)

    def _answered(self, visit: Visit, tried: Attempt, elapsed: float) -> Outcome:
        """The server said something: is it what the recording expects?"""
        extracted, replayed = visit.extracted, visit.extracted.replayed if visit.extracted is not None else None
        if visit.redirect_to is not None:
            target = hidden_url(visit.redirect_to.href, self.recording.template, self.recording.secrets)
            return self.stopped(f"it leads to {redact(target)}", tried, visit)
        if extracted is None or replayed is None or replayed.unfit is not None:
            unfit = replayed.unfit if replayed is not None else visit.not_a_document
            return self.stopped(unfit or "the answer can't be read", tried, visit)
        self.lane.succeeded(elapsed)
        return self._done(visit, extracted, tried)

    def _failed(self, visit: Visit, tried: Attempt, began: float) -> Outcome:
        """Trouble is met as at every page, and once more at the start: what does not pass means that the recording is of no use."""
        failure, page = visit.failure, self.page
        tools = self.tools if page.is_start else replace(self.tools, strategies={STRATEGY: API_REPLAY})
        outcome = failed(page, self.lane, self.run, tools, visit, tried, began)
        gone = failure is Failure.NOT_FOUND or (
            failure is Failure.BAD_RESPONSE and visit.status is not None and visit.status not in RETRYABLE_STATUS
        )
        why = f"the site refused it: {visit.detail}" if failure is Failure.BLOCKED else visit.detail or str(failure)
        if not page.is_start:
            if gone and self._counts_blindly:
                # Beyond the end of a list that does not say how long it is.
                over = tried._replace(decision="done: the list ends before")
                return Outcome(page, PageState.DONE, over, charged=True, status=visit.status)
            return self.stopped(why, tried, visit) if gone else outcome
        hopeless = gone or outcome.state is PageState.FAILED or page.charged > 0
        if hopeless and failure is not Failure.RATE_LIMITED:
            stopped = self.stopped(why, tried, visit)
            told = tuple(event for event in outcome.events if event.message in (BREAKER_OPENED, HOST_WAITS))
            return stopped._replace(events=(*told, *stopped.events))
        if visit.failure is Failure.BLOCKED:
            refused = Stopped(self.kept.id, why[:MAX_DETAIL])
            outcome = outcome._replace(recording=refused, events=(self._said(why), *outcome.events))
        return outcome._replace(move=_home(page)) if outcome.strategy not in (None, STRATEGY) else outcome

    @property
    def _counts_blindly(self) -> bool:
        paging = self.recording.reading.paging
        return paging is not None and paging.kind == "number" and paging.total is None

    def stopped(self, why: str, tried: Attempt | None, visit: Visit | None = None) -> Outcome:
        """The recording does not work any more: the browser takes over from the start, and a part behind it has failed."""
        said = self._said(why)
        stopped = Stopped(self.kept.id, why[:MAX_DETAIL])
        if self.page.is_start:
            outcome = _browser_takes_over(self.page, self.run, self.tools, why, tried)
            status = visit.status if visit is not None else None
            return outcome._replace(status=status, recording=stopped, events=(said, *outcome.events))
        return Outcome(
            self.page,
            PageState.FAILED,
            attempt=tried._replace(decision="failed", failure=Failure.RECORDING, detail=why) if tried else None,
            reason=Failure.RECORDING,
            detail=why[:MAX_DETAIL],
            charged=True,
            status=visit.status if visit is not None else None,
            recording=stopped,
            events=(said, page_failed(self.page, Failure.RECORDING, why[:MAX_DETAIL])),
        )

    def _said(self, why: str) -> Event:
        meta = {"recording": self.kept.id, "url": redact(self.url.href), "why": why[:MAX_DETAIL]}
        return Event(RECORDING_STOPPED, Level.WARN, meta)

    def _done(self, visit: Visit, extracted: Extracted, tried: Attempt) -> Outcome:
        page, run = self.page, self.run
        assert extracted.replayed is not None
        final = fingerprint(visit.url) if page.is_start else None
        links = self._links(visit, extracted)
        surplus = [link.url for link in links] if run.full else ()
        return Outcome(
            page=page,
            state=PageState.DONE,
            attempt=tried,
            charged=True,
            status=visit.status,
            final_url=visit.url if page.is_start else None,
            final_fingerprint=final if final != page.fingerprint else None,
            records=tuple([record_of(self._as_told(), visit, tried, data) for data in extracted.records()]),
            links=() if run.full else links,
            refused={Skip.MAX_PAGES.value: Refused.of(surplus)} if surplus else NOTHING_REFUSED,
            events=(page_cut(page, visit),) if extracted.cut else (),
            lacking=extracted.lacking,
            recording=Worked(self.kept.id, extracted.replayed.shape or self.recording.shape) if page.is_start else None,
        )

    def _as_told(self) -> Page:
        """The page as its records name it: the address that the job is about, whatever was asked."""
        return self.page._replace(asked_url=self.run.run.roots[0])

    def _links(self, visit: Visit, extracted: Extracted) -> tuple[Link, ...]:
        """The parts of the list that follow, as pages of the run."""
        assert extracted.replayed is not None
        ahead = [position_of(f"#{text}") for text in extracted.replayed.following]
        paging = self.recording.reading.paging
        if paging is not None and paging.kind == "link" and extracted.items:
            here = self.position
            if (said := next_link(visit.headers.get("link"))) and here.part < (paging.most or here.part + 1):
                ahead = [replace(here, value=said, part=here.part + 1)]
        return tuple(link for position in ahead if position is not None and (link := self._link(position)) is not None)

    def _link(self, position: Position) -> Link | None:
        own = None
        paging = self.recording.reading.paging
        if paging is not None and paging.kind in ("address", "link"):
            try:
                target = resolve(str(position.value), self.url.href)
            except Unfetchable:
                return None
            if target.origin != self.url.origin:
                return None  # another server gets nothing that was recorded at this one
            own = hidden_url(target.href, self.recording.template, self.recording.secrets)
            position = replace(position, value=_HERE)
        address = address_of(self.recording, position, own)
        return Link(address, _mark(address), self.url.lane, self.page.depth)


def address_of(recording: Recording, position: Position, own: str | None = None) -> str:
    """Where a part of a list is, as it may be seen: without secrets, and with the position behind it."""
    template, paging = recording.template, recording.reading.paging
    if own is None and paging is not None and paging.slot:
        template = with_slot(template, paging.slot, slot_value(paging, position))
    return f"{(own or template.url).partition('#')[0]}#{position.written()}"


def _mark(address: str) -> str:
    """What tells parts apart that are asked for at the same address."""
    url, _, position = address.partition("#")
    at = position_of(f"#{position}")
    value = at.value if at is not None and at.value != _HERE else ""
    return blake2b(f"{fingerprint(url)} {value}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _orphaned(page: Page) -> Outcome:
    why = "its recording was deleted"
    events = (page_failed(page, Failure.RECORDING, why),)
    return Outcome(page, PageState.FAILED, reason=Failure.RECORDING, detail=why, charged=True, events=events)


def _browser_takes_over(page: Page, run: ServedRun, tools: Tools, why: str, tried: Attempt | None = None) -> Outcome:
    """What the table says of a page that can't be replayed: the browser, if there is one."""
    situation = Situation(Failure.RECORDING, STRATEGY, page.charged, run.spec.attempts)
    decision = decide(situation, run.spec.backoff, tools.strategies, tools.luck())
    detail = why[:MAX_DETAIL]
    tried = tried._replace(failure=Failure.RECORDING, detail=detail) if tried is not None else None
    if isinstance(decision, GiveUp):
        detail = f"{detail}; {tools.no_browser or 'there is no browser to make one with'}"[:MAX_DETAIL]
        return Outcome(
            page,
            PageState.FAILED,
            attempt=tried._replace(decision="failed") if tried is not None else None,
            reason=Failure.RECORDING,
            detail=detail,
            charged=True,
            events=(page_failed(page, Failure.RECORDING, detail),),
        )
    meta = {"from": STRATEGY, "to": decision.strategy, "reason": Failure.RECORDING, "why": detail}
    return Outcome(
        page,
        PageState.PENDING,
        attempt=tried._replace(decision=f"retry at once with {decision.strategy}") if tried is not None else None,
        reason=Failure.RECORDING,
        detail=detail,
        next_at=tools.clock.wall(),
        strategy=decision.strategy,
        move=_home(page),
        events=(Event(STRATEGY_ESCALATED, meta=meta),),
    )


def _home(page: Page) -> Move | None:
    """A page that moved to where its data is goes back to where it can be rendered."""
    asked = page.asked_url
    return Move(asked, stored(asked).lane, 0) if asked is not None and position_of(page.url) is not None else None


def _cookies(header: str, url: Url, kept: tuple[Cookie, ...]) -> list[Cookie]:
    """The recorded cookies that the site has not set anew."""
    names = {cookie.name for cookie in kept}
    found = []
    for pair in header.split(";"):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if equals and name not in names and can_be_sent(name, value):
            found.append(Cookie(name, value, url.host, set_at=time()))
    return found
