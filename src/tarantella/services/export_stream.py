"""An export as a stream: written by a thread, read by whoever sends it on, with little in between."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from tarantella.domain.errors import Overloaded
from tarantella.exporters.columns import BASIC, DATA
from tarantella.exporters.contract import Exporter, Record
from tarantella.exporters.export import exporter_named
from tarantella.services.app import App
from tarantella.services.jobs import named_fields, shown_fields
from tarantella.services.runs import field_names, record_stream
from tarantella.store.runs import Run

MEDIA_TYPES = {
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "db": "application/vnd.sqlite3",
}
MOST_AT_ONCE = 8
CHUNK = 64 * 1024
AHEAD = 4  # chunks that may wait to be read
PATIENCE = 60.0  # seconds without anybody reading


class _ReaderGone(Exception):
    """Nobody reads the export any more."""


class Exports:
    """Exports under way."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="export")
        self._at_work = 0

    async def begin(self, app: App, run: Run, format_name: str) -> Export:
        """Write the records that a run has now. Whoever gets the export closes it."""
        exporter = exporter_named(format_name)
        if self._at_work >= MOST_AT_ONCE:
            raise Overloaded(
                f"{MOST_AT_ONCE} exports are under way.", limit=MOST_AT_ONCE, remedy="Try again when one has ended."
            )
        self._at_work += 1
        loop = asyncio.get_running_loop()
        export = Export(_Pipe(loop))
        writing = self._threads.submit(_write, app, run, exporter, export.pipe)
        # Its place is free when its thread is, which may be some time after its reader has left.
        writing.add_done_callback(lambda _: _soon(loop, self._ended))
        try:
            await export.begin()
        except BaseException:
            await export.aclose()
            raise
        return export

    def _ended(self) -> None:
        self._at_work -= 1

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class Export:
    """One export, piece by piece."""

    def __init__(self, pipe: _Pipe) -> None:
        self.pipe = pipe
        self._first: bytes | None = None

    async def begin(self) -> None:
        """Wait for the first piece: what goes wrong at once can still be told in an answer of its own."""
        self._first = await self.pipe.next()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunk = self._first
        while chunk is not None:
            yield chunk
            chunk = await self.pipe.next()

    async def aclose(self) -> None:
        self.pipe.close()


class _Pipe:
    """What a thread writes and an event loop reads; the writer waits when it is full."""

    name = "stream"

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._chunks: asyncio.Queue[bytes | BaseException | None] = asyncio.Queue()
        self._room = threading.Semaphore(AHEAD)
        self._buffer = bytearray()
        self._closed = threading.Event()

    def write(self, data: bytes, /) -> int:
        self._buffer += data
        if len(self._buffer) >= CHUNK:
            self.flush()
        return len(data)

    def flush(self) -> None:
        if self._buffer:
            self._put(bytes(self._buffer))
            self._buffer.clear()

    def finish(self, error: BaseException | None = None) -> None:
        _soon(self._loop, self._chunks.put_nowait, error)

    async def next(self) -> bytes | None:
        chunk = await self._chunks.get()
        self._room.release()
        if isinstance(chunk, BaseException):
            raise chunk
        return chunk

    def close(self) -> None:
        self._closed.set()
        self._room.release()

    def check(self) -> None:
        """End the writer's work where nobody reads any more; it may be long before it has anything to write."""
        if self._closed.is_set():
            raise _ReaderGone

    def _put(self, chunk: bytes) -> None:
        if not self._room.acquire(timeout=PATIENCE) or self._closed.is_set():
            raise _ReaderGone
        self._loop.call_soon_threadsafe(self._chunks.put_nowait, chunk)


def _write(app: App, run: Run, exporter: Exporter, pipe: _Pipe) -> None:
    try:
        if exporter.needs_file:
            _write_file(app, run, exporter, pipe)
        else:
            exporter.write(_records(app, run, pipe), _columns(run), pipe)
        pipe.flush()
    except _ReaderGone:
        pass
    except BaseException as error:
        pipe.finish(error)
    else:
        pipe.finish()


def _write_file(app: App, run: Run, exporter: Exporter, pipe: _Pipe) -> None:
    """What can't be written from front to back is written to a file first, which nobody else sees."""
    folder = app.settings.exports_dir
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with NamedTemporaryFile(dir=folder, prefix=".stream-", suffix=f".{exporter.extension}") as file:
        exporter.write(_records(app, run, pipe), _columns(run), file)
        with Path(file.name).open("rb") as written:
            while chunk := written.read(CHUNK):
                pipe.write(chunk)


def _records(app: App, run: Run, pipe: _Pipe) -> Iterator[Record]:
    named = named_fields(run)
    for record in record_stream(app, run.id):
        pipe.check()
        yield shown_fields(record, named)


def _columns(run: Run) -> list[str]:
    """The fields that get a column: those with a selector, and those that no column has anyway."""
    return [*field_names(run.spec), *(name for name in named_fields(run) if name not in {*BASIC, DATA})]


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[..., object], *values: object) -> None:
    with suppress(RuntimeError):  # the loop may be gone
        loop.call_soon_threadsafe(call, *values)
