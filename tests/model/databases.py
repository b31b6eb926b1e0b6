"""Empty databases, as many as a search wants."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeVar

from tarantella.store import schema
from tarantella.store.database import Database
from tarantella.store.tx import Tx
from tests.postgres import Server, binaries_or_skip

T = TypeVar("T")

NewDatabase = Callable[[], Database]  # an empty one with the current schema; whoever asks for it closes it
# Where the system has such a folder: nothing here is about disks.
IN_MEMORY = next((path for path in (Path("/dev/shm"),) if path.is_dir()), None)


class Inline(Database):
    """Works in the thread that asks: most of the time of a search would go into waking the others."""

    def write_now(self, work: Callable[[Tx], T], *, durable: bool = False, name: str = "write") -> T:
        return self._write(work, name)

    def read_now(self, work: Callable[[Tx], T]) -> T:
        return self._read(work)


@contextmanager
def sqlite() -> Iterator[NewDatabase]:
    """One file for the whole search, each time a copy of an empty one."""
    folder = Path(tempfile.mkdtemp(prefix="model-", dir=IN_MEMORY))
    path, template = folder / "tarantella.db", folder / "template.db"
    schema.prepare(template)

    def new_database() -> Database:
        for left in folder.glob("tarantella.db*"):
            left.unlink()
        shutil.copy(template, path)
        return Inline(path)

    try:
        yield new_database
    finally:
        shutil.rmtree(folder)


@contextmanager
def postgresql() -> Iterator[NewDatabase]:
    """A server of its own for the whole search."""
    with Server(binaries_or_skip()) as server, postgresql_on(server) as new_database:
        yield new_database


@contextmanager
def postgresql_on(server: Server) -> Iterator[NewDatabase]:
    """One database for the whole search, each time emptied."""
    lent: list[str] = []

    def new_database() -> Database:
        while lent:
            server.give_back(lent.pop())
        lent.append(server.lend())
        return Inline(server.url(lent[0]))

    try:
        yield new_database
    finally:
        for name in lent:
            server.give_back(name)


KINDS: Mapping[str, Callable[[], AbstractContextManager[NewDatabase]]] = {
    "sqlite": sqlite,
    "postgresql": postgresql,
}
