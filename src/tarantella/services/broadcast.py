"""One reader of the database for each run, and each workflow, that somebody watches, however many do."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from typing import Any

from tarantella.domain.errors import NotFound, Overloaded, StoreError
from tarantella.domain.run import RunStatus
from tarantella.domain.struct import Frozen
from tarantella.domain.workflow import LIVE, WorkflowStatus
from tarantella.log import log
from tarantella.queues.contract import News
from tarantella.services.app import App
from tarantella.services.progress import Progress, Speedometers
from tarantella.store import events, progress, workflow_events
from tarantella.store import workflows as stored_workflows
from tarantella.store.progress import Look
from tarantella.store.tx import Tx

MOST_WATCHERS = 1_000
KEPT_EVENTS = 5_000
AT_ONCE = 1_000
LOOKS_EVERY = 0.2  # seconds, at a run that is running
LOOKS_WHEN_TOLD_EVERY = 1.0  # where news comes by itself, and this only finds what was lost on the way
LOOKS_AT_THE_IDLE_EVERY = 0.5
STOPPED = "server stopped"


class Sight(Frozen):
    """How something that is watched stands."""

    id: str
    status: str
    last_event: int
    is_running: bool
    is_over: bool
    look: Look | None = None  # what more there is to see of a run


class Kind(Frozen):
    """What can be watched: it has a history, and comes to an end."""

    look: Callable[[Tx, str], Sight]
    events: Callable[..., list[dict[str, Any]]]
    written: Callable[[Mapping[str, Any]], bytes]
    is_told: bool  # somebody may say when one of them has changed


def runs(written: Callable[[Mapping[str, Any]], bytes]) -> Kind:
    return Kind(_run, events.listed, written, is_told=True)


def workflows(written: Callable[[Mapping[str, Any]], bytes]) -> Kind:
    return Kind(_workflow, workflow_events.listed, written, is_told=False)


def _run(tx: Tx, run_id: str) -> Sight:
    look = progress.look(tx, run_id)
    run = look.run
    return Sight(run.id, run.status.value, run.last_event, run.status is RunStatus.RUNNING, run.is_over, look)


def _workflow(tx: Tx, workflow_id: str) -> Sight:
    status, last_event = stored_workflows.standing(tx, workflow_id)
    return Sight(workflow_id, status.value, last_event, status is WorkflowStatus.RUNNING, status not in LIVE)


class Message(Frozen):
    """An event, put into the words of the stream once for all who watch."""

    sequence: int
    event: bytes


class Broadcast:
    """What is new of one run, or one workflow."""

    def __init__(self, id_: str, first: int, kind: Kind) -> None:
        self.id = id_
        self.kind = kind
        self.last = first  # the number of the newest event that is known here
        self.progress: Progress | None = None
        self.changes = 0  # how often the progress was another one
        self.ended: str | None = None  # how the run ended, or why nobody looks any more
        self.watchers = 0
        self.has_changed = asyncio.Event()  # somebody told so
        self._kept: deque[Message] = deque(maxlen=KEPT_EVENTS)
        self._news: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def after(self, sequence: int, limit: int) -> list[Message] | None:
        """The events behind this one; None when they are too old to be known here."""
        if sequence >= self.last:
            return []
        if not self._kept or self._kept[0].sequence > sequence + 1:
            return None
        skipped = sequence + 1 - self._kept[0].sequence
        return list(islice(self._kept, skipped, skipped + limit))

    async def news(self, within: float) -> bool:
        """Wait until there is something new; False when nothing was."""
        if self.ended is not None:
            return True
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await asyncio.shield(self._news)
            return True
        return False

    async def changed(self, within: float) -> None:
        """Wait until somebody tells that it has changed, but no longer than this."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self.has_changed.wait()

    def tell(self, found: list[dict[str, Any]], seen: Progress | None) -> None:
        for event in found:
            self._kept.append(Message(event["sequence"], self.kind.written(event)))
            self.last = event["sequence"]
        before, self.progress = self.progress, seen
        if seen is not None and (before is None or _told(before) != _told(seen)):
            self.changes += 1
        elif not found:
            return
        self._wake()

    def end(self, how: str) -> None:
        self.ended = self.ended or how
        self._wake()

    def _wake(self) -> None:
        woken, self._news = self._news, asyncio.get_running_loop().create_future()
        if not woken.done():
            woken.set_result(None)


def _told(seen: Progress) -> tuple[object, ...]:
    """What makes a look at a run another one to those who watch."""
    run = seen.run
    return (run.status, run.counts, run.records, run.reason, run.last_event, seen.phase)


class Broadcasts:
    """The runs and workflows that are watched now."""

    def __init__(self, app: App, speedometers: Speedometers) -> None:
        self._app = app
        self._speedometers = speedometers
        self._running: dict[str, tuple[Broadcast, asyncio.Task[None]]] = {}
        self._watchers = 0
        self._closed = False
        self._news: News | None = None

    async def hush(self) -> None:
        """Listen to nobody any more."""
        if self._news is not None:
            await self._news.close()

    def _listen(self) -> None:
        """Look at a run as soon as somebody tells that it has changed; nobody listens before somebody watches one."""
        if self._news is None and (news := self._app.make_news()) is not None:
            self._news = news
            news.listen(self._told_of)

    def _told_of(self, run_id: str) -> None:
        if (known := self._running.get(run_id)) is not None:
            known[0].has_changed.set()

    @property
    def watchers(self) -> int:
        return self._watchers

    @property
    def readers(self) -> int:
        """How many look at the database."""
        return len(self._running)

    @contextmanager
    def watching(self, kind: Kind, seen: Sight) -> Iterator[Broadcast]:
        """Watch something for a while."""
        broadcast = self._join(kind, seen)
        try:
            yield broadcast
        finally:
            self._leave(broadcast)

    def check_room(self) -> None:
        if self._watchers >= MOST_WATCHERS:
            raise Overloaded(
                f"{MOST_WATCHERS} streams are open.",
                limit=MOST_WATCHERS,
                remedy="Close some, or ask now and then instead.",
            )

    async def look(self, kind: Kind, id_: str) -> Sight:
        return await self._app.database.read(lambda tx: kind.look(tx, id_))

    async def older(self, broadcast: Broadcast, after: int, limit: int) -> list[Message]:
        """Events that are too old to be known to a broadcast."""
        kind, id_ = broadcast.kind, broadcast.id
        found = await self._app.database.read(lambda tx: kind.events(tx, id_, after=after, limit=limit))
        return [Message(event["sequence"], kind.written(event)) for event in found]

    def close(self) -> None:
        """End all streams: the server is about to stop."""
        self._closed = True
        for broadcast, task in self._running.values():
            task.cancel()
            broadcast.end(STOPPED)

    def _join(self, kind: Kind, seen: Sight) -> Broadcast:
        if kind.is_told:
            self._listen()
        known = self._running.get(seen.id)
        if known is None or (known[0].ended is not None and not seen.is_over):
            # A run that was queued again has a new story; who still reads the old one has it for themselves.
            broadcast = Broadcast(seen.id, max(0, seen.last_event - KEPT_EVENTS), kind)
            known = self._running[seen.id] = (broadcast, asyncio.create_task(self._read(broadcast)))
        broadcast = known[0]
        self._watchers += 1
        broadcast.watchers += 1
        if self._closed:
            broadcast.end(STOPPED)
        return broadcast

    def _leave(self, broadcast: Broadcast) -> None:
        self._watchers -= 1
        broadcast.watchers -= 1
        known = self._running.get(broadcast.id)
        if not broadcast.watchers and known is not None and known[0] is broadcast:
            del self._running[broadcast.id]
            known[1].cancel()

    async def _read(self, broadcast: Broadcast) -> None:
        while broadcast.ended is None:
            broadcast.has_changed.clear()
            is_heard = broadcast.kind.is_told and self._news is not None and self._news.is_heard
            pause = LOOKS_WHEN_TOLD_EVERY if is_heard else LOOKS_EVERY
            try:
                seen, found = await self._app.database.read(partial(_news, broadcast=broadcast, after=broadcast.last))
                look = seen.look
                broadcast.tell(found, self._speedometers.seen(look, self._app.now()) if look is not None else None)
                if len(found) == AT_ONCE:
                    continue
                if seen.is_over:
                    broadcast.end(seen.status)
                elif not seen.is_running:
                    pause = max(pause, LOOKS_AT_THE_IDLE_EVERY)
            except NotFound:
                broadcast.end("deleted")
            except StoreError:
                pause = LOOKS_AT_THE_IDLE_EVERY  # the store may be busy; watchers can wait
            except Exception as error:
                log.exception(
                    "Something could not be watched", action="watch_failed", id=broadcast.id, error=str(error)
                )
                pause = LOOKS_AT_THE_IDLE_EVERY
            await broadcast.changed(within=pause)


def _news(tx: Tx, broadcast: Broadcast, after: int) -> tuple[Sight, list[dict[str, Any]]]:
    """How it stands and its new events, both at the same moment: who sees the end has seen everything before it."""
    kind, id_ = broadcast.kind, broadcast.id
    return kind.look(tx, id_), kind.events(tx, id_, after=after, limit=AT_ONCE)
