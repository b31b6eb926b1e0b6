"""Word between all processes of a fleet, over Redis' publish and subscribe: whom to wake, and which runs have changed.

Nothing is kept anywhere: who does not listen at that moment does not hear it, and looks by themselves a little later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from tarantella.log import log
from tarantella.queues import embedded

WAKE, NEWS = "tarantella:wake", "tarantella:news"
GATHERS = 0.05  # seconds in which what is said is put together
CONNECTS_WITHIN = 2.0
LAST_WORDS = 0.5
TRIES_AGAIN = 1.0
CHECKS_EVERY = 10  # whether the other end is still there, which a cable that was cut does not tell
MOST_UNSAID = 5_000


class Wire:
    """One process's end of it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._unsaid: dict[str, set[str]] = {}
        self._saying: asyncio.Task[None] | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._client: Any = None
        self._away = False
        self.is_heard = False

    def say(self, channel: str, words: Iterable[str]) -> None:
        """Say this soon, or not at all."""
        unsaid = self._unsaid.setdefault(channel, set())
        if len(unsaid) < MOST_UNSAID:
            unsaid.update(words)
        if self._saying is None or self._saying.done():
            self._saying = asyncio.create_task(self._say())

    def hear(self, channels: Iterable[str], heard: Callable[[str], None]) -> None:
        """Call this with every word that is said there."""
        self._hearing = asyncio.create_task(self._hear(tuple(channels), heard))

    async def close(self) -> None:
        if self._saying is not None and not self._saying.done():
            await asyncio.wait({self._saying}, timeout=LAST_WORDS)
        for task in (self._saying, self._hearing):
            # More than once: Redis' client takes a cancellation that comes together with its own timeout for that.
            while task is not None and not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=TRIES_AGAIN)
        if self._client is not None:
            with suppress(Exception):
                await self._client.aclose()

    async def _say(self) -> None:
        from redis.exceptions import RedisError

        while self._unsaid:
            await asyncio.sleep(GATHERS)
            unsaid, self._unsaid = self._unsaid, {}
            try:
                async with asyncio.timeout(CONNECTS_WITHIN):
                    for channel, words in unsaid.items():
                        await self._connected().publish(channel, " ".join(words))
                self._note(away=False)
            except (RedisError, OSError, TimeoutError) as error:
                self._note(away=True, why=error)
                await asyncio.sleep(TRIES_AGAIN)

    async def _hear(self, channels: tuple[str, ...], heard: Callable[[str], None]) -> None:
        from redis.exceptions import RedisError

        while True:
            try:
                async with self._connected().pubsub() as listener:
                    await listener.subscribe(*channels)
                    self.is_heard = True
                    self._note(away=False)
                    while True:
                        message = await listener.get_message(ignore_subscribe_messages=True, timeout=CHECKS_EVERY / 2)
                        if message is not None:
                            for word in message["data"].decode().split():
                                heard(word)
            except (RedisError, OSError, TimeoutError) as error:
                self._note(away=True, why=error)
            finally:
                self.is_heard = False
            await asyncio.sleep(TRIES_AGAIN)

    def _connected(self) -> Any:
        if self._client is None:
            from redis.asyncio import Redis
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff

            self._client = Redis.from_url(
                self._url,
                socket_connect_timeout=CONNECTS_WITHIN,
                socket_keepalive=True,
                health_check_interval=CHECKS_EVERY,
                retry=Retry(NoBackoff(), 0),
            )
        return self._client

    def _note(self, *, away: bool, why: Exception | None = None) -> None:
        if away and not self._away:
            log.warning(
                "Redis does not answer; until it does, everybody looks for work by themselves",
                action="wire_lost",
                error=str(why) or type(why).__name__,
            )
        elif self._away and not away:
            log.info("Redis answers again", action="wire_found")
        self._away = away


class FleetHints:
    """Hints to workers anywhere; those of this machine hear them without Redis too."""

    def __init__(self, near: embedded.Hints, wire: Wire, worker_id: str) -> None:
        self._near = near
        self._wire = wire
        self._me = worker_id

    def listen(self, woken: Callable[[], None]) -> None:
        self._near.listen(woken)
        self._wire.hear((WAKE, f"{WAKE}:{self._me}"), lambda _: woken())

    def send(self, worker_ids: Iterable[str]) -> None:
        ids = [worker_id for worker_id in worker_ids if worker_id != self._me]
        self._near.send(ids)
        for worker_id in ids:
            self._wire.say(f"{WAKE}:{worker_id}", ("look",))

    def tell(self, run_ids: Iterable[str]) -> None:
        self._wire.say(NEWS, run_ids)

    async def close(self) -> None:
        await self._near.close()
        await self._wire.close()


class WireNews:
    """What is told of runs, wherever they are worked on."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def listen(self, told: Callable[[str], None]) -> None:
        self._wire.hear((NEWS,), told)

    @property
    def is_heard(self) -> bool:
        return self._wire.is_heard

    async def close(self) -> None:
        await self._wire.close()
