"""Exports as streams: there are only so many places, and one is free when its thread is."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tarantella.domain.errors import Gone, Overloaded
from tarantella.services import export_stream
from tarantella.services.export_stream import MOST_AT_ONCE, Exports

NOBODY: Any = None


class Slow:
    """It has nothing to send before all of it is there."""

    needs_file = False
    extension = "db"

    def __init__(self) -> None:
        self.go_on = threading.Event()

    def write(self, _: object, __: object, out: Any) -> None:
        self.go_on.wait(20)
        out.write(b"x")


def test_a_reader_who_leaves_takes_the_place_along_until_its_thread_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow()
    monkeypatch.setattr(export_stream, "exporter_named", lambda _: slow)
    monkeypatch.setattr(export_stream, "_columns", lambda _: [])

    async def story() -> None:
        exports = Exports()
        reading = [asyncio.create_task(exports.begin(NOBODY, NOBODY, "db")) for _ in range(MOST_AT_ONCE)]
        await asyncio.sleep(0.05)
        for each in reading:
            each.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        with pytest.raises(Overloaded):
            await exports.begin(NOBODY, NOBODY, "db")
        slow.go_on.set()
        await asyncio.sleep(0.2)
        export = await exports.begin(NOBODY, NOBODY, "db")
        assert [chunk async for chunk in export] == [b"x"]
        await export.aclose()
        exports.close()

    asyncio.run(story())


class Vanishing:
    """Writes until its run is deleted."""

    needs_file = False
    extension = "jsonl"

    def write(self, _: object, __: object, out: Any) -> None:
        for _number in range(3):
            out.write(b"x" * export_stream.CHUNK)
        raise Gone("The run was deleted meanwhile.")


def test_an_export_that_can_not_go_on_does_not_look_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_stream, "exporter_named", lambda _: Vanishing())
    monkeypatch.setattr(export_stream, "_columns", lambda _: [])

    async def story() -> None:
        exports = Exports()
        try:
            with pytest.raises(Gone):
                async for _chunk in await exports.begin(NOBODY, NOBODY, "jsonl"):
                    pass
        finally:
            exports.close()

    asyncio.run(story())
