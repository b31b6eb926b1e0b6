"""Word between the processes of a fleet: when Redis is away, that is told each time, and so is its return."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tarantella.queues import wire
from tarantella.queues.wire import NEWS, Wire
from tests.logs import captured_log
from tests.redis import RedisServer, binary_or_skip


def test_whoever_only_listens_tells_of_every_outage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "TRIES_AGAIN", 0.05)

    async def until(condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():
                await asyncio.sleep(0.01)

    async def story(redis: RedisServer) -> None:
        heard = Wire(redis.url(0))
        heard.hear((NEWS,), lambda _: None)
        await until(lambda: heard.is_heard)
        for _ in range(2):
            redis.stop()
            await until(lambda: not heard.is_heard)
            redis.start()
            await until(lambda: heard.is_heard)
        await heard.close()

    with RedisServer(binary_or_skip(), tmp_path) as redis, captured_log() as said:
        asyncio.run(story(redis))
    assert [each["action"] for each in said] == ["wire_lost", "wire_found"] * 2
