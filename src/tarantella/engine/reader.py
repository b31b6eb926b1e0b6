"""Reads pages that could take long in processes of their own, so that no page keeps the others waiting."""

from __future__ import annotations

import asyncio
import os
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, Protocol

import orjson

from tarantella.domain.coverage import MISSING
from tarantella.domain.jsonable import jsonable
from tarantella.extractors.errors import ExtractionFailed, NotADocument
from tarantella.extractors.page import Extracted, Wants, extract
from tarantella.extractors.parcel import pack_extracted, unpack_extracted
from tarantella.log import log

MOST_CHILDREN = max(1, min(4, os.cpu_count() or 1))
SECONDS = 15.0  # for one page
START_SECONDS = 60.0
READY = b"ready\n"
CRASHED = "reading it went wrong"
_SIZES = struct.Struct("!II")


class Reader(Protocol):
    """Somebody who reads what a site sent."""

    async def read(self, body: bytes, content_type: str, wants: Wants, page_url: str) -> Extracted: ...


class Readers:
    """A few child processes that read pages. One that takes too long is ended, and its page read without what takes long."""

    def __init__(
        self,
        command: tuple[str, ...] = (sys.executable, "-m", "tarantella", "reader"),
        *,
        most: int = MOST_CHILDREN,
        seconds: float = SECONDS,
    ) -> None:
        self._command = command
        self._seconds = seconds
        self._idle: list[asyncio.subprocess.Process] = []
        self._children: set[asyncio.subprocess.Process] = set()
        self._room = asyncio.Semaphore(most)

    async def read(self, body: bytes, content_type: str, wants: Wants, page_url: str) -> Extracted:
        """Read a page. Raises NotADocument or ExtractionFailed, and nothing else."""
        question = orjson.dumps({"content_type": content_type, "wants": wants.to_json(), "url": page_url})
        async with self._room:
            try:
                child = self._idle.pop() if self._idle else await self._start()
            except (OSError, TimeoutError) as error:
                raise ExtractionFailed(f"No process could be started to read the page: {error}") from error
            try:
                answer = await asyncio.wait_for(_ask(child, question, body), self._seconds)
            except TimeoutError:
                await self._end(child)
                problem = f"reading it took longer than {self._seconds:g} s"
                return _without(wants, body, content_type, page_url, problem)
            except (OSError, asyncio.IncompleteReadError):
                await self._end(child)
                return _without(wants, body, content_type, page_url, CRASHED)
            except BaseException:
                await self._end(child)
                raise
            self._idle.append(child)
        return _understood(answer)

    async def _start(self) -> asyncio.subprocess.Process:
        child = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        self._children.add(child)
        assert child.stdout is not None
        try:
            if await asyncio.wait_for(child.stdout.readline(), START_SECONDS) != READY:
                raise OSError("it ended at once")
        except BaseException:
            await self._end(child)
            raise
        return child

    async def _end(self, child: asyncio.subprocess.Process) -> None:
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()
        self._children.discard(child)

    async def close(self) -> None:
        self._idle.clear()
        for child in list(self._children):
            await self._end(child)


async def _ask(child: asyncio.subprocess.Process, question: bytes, body: bytes) -> bytes:
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(_SIZES.pack(len(question), len(body)) + question)
    child.stdin.write(body)
    await child.stdin.drain()
    length, _ = _SIZES.unpack(await child.stdout.readexactly(_SIZES.size))
    return await child.stdout.readexactly(length)


def _understood(answer: bytes) -> Extracted:
    data = orjson.loads(answer)
    if "not_a_document" in data:
        raise NotADocument(data["not_a_document"])
    if "failed" in data:
        raise ExtractionFailed(data["failed"])
    return unpack_extracted(data["extracted"])


def _without(wants: Wants, body: bytes, content_type: str, page_url: str, problem: str) -> Extracted:
    """The page without what takes long; what is missing for that is told in its record."""
    log.warning("A page was read in part", action="read_in_part", url=page_url, problem=problem)
    hurried = wants.hurried()
    extracted = extract(body, content_type, hurried, page_url)
    left_out = [wanted for wanted in wants.fields if wanted not in hurried.fields]
    record = extracted.data
    if left_out:
        found = record.setdefault("fields", {})
        record["fields"] = {wanted.name: found.get(wanted.name, wanted.default) for wanted in wants.fields}
        record["problems"] = {
            **record.get("problems", {}),
            **{wanted.name: {"problem": problem, "raw": ""} for wanted in left_out},
        }
    lacking = {**extracted.lacking, **{wanted.name: {MISSING: 1} for wanted in left_out}}
    return extracted._replace(lacking=lacking, items=() if wants.item is not None else None)


def serve_readings(source: BinaryIO, write: Callable[[bytes], object]) -> None:
    """The child's side: read what comes in, one after the other, until the parent is gone."""
    write(READY)
    while len(sizes := source.read(_SIZES.size)) == _SIZES.size:
        length, body_length = _SIZES.unpack(sizes)
        question = orjson.loads(source.read(length))
        body = source.read(body_length)
        if len(body) < body_length:
            return
        answer = _answer(body, question["content_type"], Wants.from_json(question["wants"]), question["url"])
        write(_SIZES.pack(len(answer), 0) + answer)


def _answer(body: bytes, content_type: str, wants: Wants, page_url: str) -> bytes:
    try:
        extracted = extract(body, content_type, wants, page_url)
        return _dumped({"extracted": pack_extracted(extracted)})
    except NotADocument as error:
        return orjson.dumps({"not_a_document": error.kind})
    except (ExtractionFailed, TypeError) as error:
        return orjson.dumps({"failed": str(error)})


def _dumped(answer: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(answer)
    except TypeError:
        # A page can hold what JSON has no word for, which must not cost all that is in it.
        return orjson.dumps(jsonable(answer))
