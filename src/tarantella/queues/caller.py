"""Sends Celery's messages for whoever takes work in: from a thread of its own, so that no broker keeps anybody waiting.

While a message waits that is as urgent, another one would say the same: whoever takes it looks later than now, and sees what
was committed before now. So there is never more than one of each priority, and one more for each process that sends them,
however many runs are queued, whether the broker was flushed or not, and with nobody keeping count.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from tarantella.log import log
from tarantella.queues import embedded
from tarantella.queues.wire import WAKE, Wire

GATHERS = 0.01  # seconds after the first in which more are put into the same message
APART = 0.05  # seconds between two messages
MOST_IDS = 100  # in one message
PATIENCE = 2.0  # seconds for the broker, which nobody waits for
LAST_WORDS = 1.0  # seconds for what is unsent when a command ends
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0


class Post(Protocol):
    """Where messages are sent to. It may block."""

    def send(self, run_ids: list[str], priority: int) -> str | None:
        """Send a message; its id, or None where one was waiting that says the same."""


class FleetBell:
    """Wakes a worker of any machine, and those of this one by the way that needs no broker."""

    def __init__(self, near: embedded.Bell, wire: Wire, open_post: Callable[[], Post]) -> None:
        self._near = near
        self._wire = wire
        self._open_post = open_post
        self._post: Post | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="caller")
        self._unsent: dict[int, list[str]] = {}
        self._sending: asyncio.Task[None] | None = None
        self._failures = 0
        self._resting_until = 0.0

    def call(self, run_id: str, priority: int) -> None:
        self._near.ring()
        if time.monotonic() < self._resting_until:
            # The broker is away. What it would be told, everybody finds out by themselves.
            return
        unsent = self._unsent.setdefault(priority, [])
        if len(unsent) < MOST_IDS:
            unsent.append(run_id)
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())

    def ring(self) -> None:
        self._near.ring()
        self._wire.say(WAKE, ("look",))

    async def close(self) -> None:
        if self._sending is not None and not self._sending.done():
            await asyncio.wait({self._sending}, timeout=LAST_WORDS)
            self._sending.cancel()
        await self._near.close()
        await self._wire.close()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _send(self) -> None:
        await asyncio.sleep(GATHERS)
        while self._unsent:
            priority = min(self._unsent)
            run_ids = self._unsent.pop(priority)
            try:
                await asyncio.get_running_loop().run_in_executor(self._thread, self._send_now, run_ids, priority)
            except Exception as error:
                # Of whatever kind: a hint that could not be sent must not hurt anybody.
                self._rest(error)
                return
            if self._failures:
                log.info("The broker takes messages again", action="broker_found")
            self._failures = 0
            await asyncio.sleep(APART)

    def _send_now(self, run_ids: list[str], priority: int) -> None:
        if self._post is None:
            self._post = self._open_post()
        self._post.send(run_ids, priority)

    def _rest(self, error: Exception) -> None:
        if not self._failures:
            log.warning(
                "The broker takes no messages; workers find new runs by themselves, within a second or so",
                action="broker_lost",
                error=str(error) or type(error).__name__,
            )
        self._failures += 1
        self._unsent.clear()
        self._post = None
        self._resting_until = time.monotonic() + min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(self._failures - 1, 8))


class CeleryPost:
    """Messages through Celery, to a broker that is asked first what is waiting."""

    def __init__(self, config: dict[str, Any]) -> None:
        from redis import Redis
        from tarantella.queues.celery import make_celery

        self._celery = make_celery(config)
        self._redis = Redis.from_url(config["broker_url"], socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE)

    def send(self, run_ids: list[str], priority: int) -> str | None:
        from tarantella.queues.celery import PRIORITIES, QUEUE, WAKE, queue_key

        if any(self._redis.llen(queue_key(urgent)) for urgent in range(priority + 1)):
            return None
        sent = self._celery.send_task(
            WAKE,
            args=run_ids,
            queue=QUEUE,
            priority=PRIORITIES[priority],
            retry=False,
            ignore_result=True,
        )
        log.debug("A message was sent", action="message_sent", task=sent.id, runs=len(run_ids))
        return str(sent.id)
