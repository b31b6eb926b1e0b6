"""Stored sessions: a file each, which nobody else can read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from tarantella.domain.errors import NotFound, StoreBroken
from tarantella.domain.session import Session, check_session_name, session_of
from tarantella.domain.struct import Frozen


class StoredSession(NamedTuple):
    """What may be told of a session."""

    name: str
    cookies: int
    hosts: list[str]
    expires_at: float | None
    stored_at: float


class Sessions(Frozen):
    """A folder of sessions."""

    folder: Path

    def save(self, name: str, session: Session) -> StoredSession:
        """Store a session in place of whatever had that name."""
        path = self._path(name)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.folder.chmod(0o700)
            # It must never have been readable by others, not even while it was empty.
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(orjson.dumps(session.to_json()))
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        except OSError as error:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise StoreBroken(
                f"{self.folder} can't be written: {error.strerror}.", remedy="Choose another folder with --data-dir."
            ) from None
        return self._told(path)

    def load(self, name: str) -> Session:
        try:
            return session_of(orjson.loads(self._path(name).read_bytes()))
        except FileNotFoundError:
            raise _not_there(name) from None
        except (OSError, ValueError) as error:
            raise StoreBroken(f"The session {name} can't be read: {type(error).__name__}.") from None

    def edition(self, name: str) -> int | None:
        """A number that changes when the session does; None: it is not there."""
        try:
            return self._path(name).stat().st_mtime_ns
        except OSError:
            return None

    def delete(self, name: str) -> None:
        try:
            self._path(name).unlink()
        except FileNotFoundError:
            raise _not_there(name) from None

    def listed(self) -> list[StoredSession]:
        return sorted(self._all())

    def _all(self) -> Iterator[StoredSession]:
        for path in self.folder.glob("[!.]*.json"):
            with suppress(OSError, ValueError, StoreBroken, NotFound):
                yield self._told(path)

    def _told(self, path: Path) -> StoredSession:
        session = self.load(path.stem)
        return StoredSession(path.stem, len(session.cookies), session.hosts, session.expires_at(), path.stat().st_mtime)

    def _path(self, name: str) -> Path:
        return self.folder / f"{check_session_name(name)}.json"


def _not_there(name: str) -> NotFound:
    return NotFound(
        f"There is no session {name!r}.",
        remedy=f"Store one with `tarantella sessions import {name} FILE`.",
        field="session",
    )
