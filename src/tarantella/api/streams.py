"""Server-sent events: a run's history and its progress, as they happen. workflow_stream.py has those of workflows."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Response

from tarantella.api.plane import RunId, Wired, checked_id
from tarantella.api.streaming import Streamed
from tarantella.api.strict import StrictRoute
from tarantella.api.views.problem import problems
from tarantella.api.views.progress import ProgressView
from tarantella.api.views.runs import EventView
from tarantella.services import broadcast
from tarantella.services.broadcast import Broadcast, Broadcasts, Kind, Message, Sight

router = APIRouter(prefix="/jobs/runs", tags=["runs"], route_class=StrictRoute)

MEDIA_TYPE = "text/event-stream"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
HEARTBEAT = 15.0  # seconds without a message after which a comment is sent
PER_SECOND = 10
MOST_IN_BATCH = 500
RETRY_MILLISECONDS = 1_000
BEGINNING = f"retry: {RETRY_MILLISECONDS}\n: events follow\n\n".encode()


def described(what: str, example: str) -> dict[int | str, dict[str, Any]]:
    """The answers of a route that streams."""
    return {
        200: {
            "description": "Messages as they happen; the last one is `end`.",
            "content": {
                MEDIA_TYPE: {
                    "schema": {
                        "type": "object",
                        "description": f"One message. `data` is JSON: {what}, or how it ended.",
                        "properties": {
                            "id": {"type": "string", "description": "The number of the event."},
                            "event": {"enum": ["message", "batch", "progress", "end"]},
                            "data": {"type": "string", "contentMediaType": "application/json"},
                            "retry": {"type": "integer"},
                        },
                    },
                    "example": f'{example}event: end\ndata: {{"status":"completed"}}\n\n',
                }
            },
        },
        204: {"description": "It is over, and there is nothing that the client has not seen: don't come back."},
        **problems(404, 422, 503),
    }


_STREAM = described(
    "an event, a list of events, the progress",
    'id: 2\ndata: {"sequence":2,"level":"info","message":"Run started"}\n\n',
)
LastEventId = Annotated[
    int | None,
    Header(
        alias="Last-Event-ID",
        ge=0,
        le=2**53,
        description="The number of the last event that was seen: those behind it follow.",
    ),
]


def written(event: Mapping[str, Any]) -> bytes:
    """An event as a message of a stream."""
    return b"id: %d\ndata: %s\n\n" % (event["sequence"], EventView.of(event).model_dump_json().encode())


RUNS = broadcast.runs(written)


class Pacer:
    """At most so many messages in any second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sent: deque[float] = deque(maxlen=PER_SECOND)

    def allowance(self) -> int:
        """How many may be sent now."""
        now = self._clock()
        while self._sent and now - self._sent[0] >= 1.0:
            self._sent.popleft()
        return PER_SECOND - len(self._sent)

    def sent(self, messages: int = 1) -> None:
        self._sent.extend([self._clock()] * messages)

    async def turn(self) -> int:
        """Wait until something may be sent; how many messages."""
        allowed = self.allowance()
        if allowed:
            return allowed
        await asyncio.sleep(max(0.0, 1.0 - (self._clock() - self._sent[0])))
        return max(1, self.allowance())


class _Stream:
    """What one client is sent. It holds its place among those who watch until it is closed."""

    def __init__(self, broadcasts: Broadcasts, kind: Kind, seen: Sight, heartbeat: float) -> None:
        self._holding = ExitStack()
        self._broadcasts = broadcasts
        self._heartbeat = heartbeat
        self._pacer = Pacer()
        self._silent_since = time.monotonic()
        self.broadcast: Broadcast = self._holding.enter_context(broadcasts.watching(kind, seen))

    async def aclose(self) -> None:
        self._holding.close()

    async def _has_news(self) -> bool:
        """Wait until something has changed; False when nothing was said for so long that something should be."""
        left = self._silent_since + self._heartbeat - time.monotonic()
        return left > 0 and await self.broadcast.news(left)

    def _said(self, message: bytes) -> bytes:
        self._silent_since = time.monotonic()
        return message

    def _end(self) -> bytes:
        return b"event: end\ndata: %s\n\n" % orjson.dumps({"status": self.broadcast.ended})


class EventStream(_Stream):
    """All events behind a number, then those that come."""

    def __init__(
        self, broadcasts: Broadcasts, kind: Kind, seen: Sight, after: int, heartbeat: float = HEARTBEAT
    ) -> None:
        super().__init__(broadcasts, kind, seen, heartbeat)
        self._after = after

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield BEGINNING
        while True:
            allowed = await self._pacer.turn()
            if found := await self._next():
                self._after = found[-1].sequence
                yield self._said(self._told(found, allowed))
            elif self.broadcast.ended is not None:
                yield self._end()
                return
            elif not await self._has_news():
                yield self._said(b": still here\n\n")

    async def _next(self) -> list[Message]:
        known = self.broadcast.after(self._after, MOST_IN_BATCH)
        if known is not None:
            return known
        return await self._broadcasts.older(self.broadcast, self._after, MOST_IN_BATCH)

    def _told(self, found: list[Message], allowed: int) -> bytes:
        """One message each; where they are more than may be sent, all in one."""
        if len(found) <= allowed:
            self._pacer.sent(len(found))
            return b"".join(message.event for message in found)
        self._pacer.sent()
        told = b",".join(message.event.partition(b"data: ")[2].rstrip() for message in found)
        return b"id: %d\nevent: batch\ndata: [%s]\n\n" % (found[-1].sequence, told)


class ProgressStream(_Stream):
    """How far a run is, whenever that has changed; who is slow misses what was in between."""

    def __init__(self, broadcasts: Broadcasts, seen: Sight, heartbeat: float = HEARTBEAT) -> None:
        super().__init__(broadcasts, RUNS, seen, heartbeat)
        self._seen = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield BEGINNING
        while True:
            await self._pacer.turn()
            if self.broadcast.changes != self._seen and self.broadcast.progress is not None:
                self._seen = self.broadcast.changes
                self._pacer.sent()
                told = ProgressView.of(self.broadcast.progress).model_dump_json().encode()
                yield self._said(b"event: progress\ndata: %s\n\n" % told)
            elif self.broadcast.ended is not None:
                yield self._end()
                return
            elif not await self._has_news():
                yield self._said(b": still here\n\n")


async def told(broadcasts: Broadcasts, kind: Kind, id_: str, last_event_id: int | None) -> Response:
    """The history of something from behind this event on, as it happens."""
    broadcasts.check_room()
    seen = await broadcasts.look(kind, id_)
    if seen.is_over and last_event_id is not None and last_event_id >= seen.last_event:
        return Response(status_code=204)
    return Streamed(EventStream(broadcasts, kind, seen, last_event_id or 0), MEDIA_TYPE, HEADERS)


@router.get("/{run_id}/events/stream", summary="Watch the history of a run", response_class=Response, responses=_STREAM)
async def stream_events(run_id: RunId, plane: Wired, last_event_id: LastEventId = None) -> Response:
    """Server-sent events: one message for each event, with its number as `id`, and `end` after the last.

    Who was cut off sends `Last-Event-ID` and misses nothing. At most ten messages come in a second: where more has
    happened, events come together in a message `batch`, as a list. A comment is sent every 15 seconds at least.
    """
    return await told(plane.broadcasts, RUNS, checked_id(run_id, "run"), last_event_id)


@router.get(
    "/{run_id}/progress/stream", summary="Watch the progress of a run", response_class=Response, responses=_STREAM
)
async def stream_progress(run_id: RunId, plane: Wired) -> Response:
    """Server-sent events: a message `progress` whenever something has changed, a few times in a second at most, then `end`."""
    plane.broadcasts.check_room()
    seen = await plane.broadcasts.look(RUNS, checked_id(run_id, "run"))
    return Streamed(ProgressStream(plane.broadcasts, seen), MEDIA_TYPE, HEADERS)
