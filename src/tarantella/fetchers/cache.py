"""Answers kept in a folder, for development: one file each, written as a whole, checked when read, never too many."""

from __future__ import annotations

import fcntl
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Lock
from time import time

import orjson

from tarantella.domain.struct import Discreet, Frozen, replace
from tarantella.log import log

_MAGIC = b"tarantella 1\n"
_NAME = re.compile(r"[0-9a-f]{30}\.page")
_UNFINISHED = re.compile(r"\.[0-9a-f]{30}\.[0-9]+\.[0-9]+\.tmp")
_FOLDER = re.compile(r"[0-9a-f]{2}")
# What a process that was killed left half-written is not somebody's work any more after so long.
ABANDONED_SECONDS = 3_600.0
# How much of the limit may be written before the folder is measured again: others write to it too.
MEASURED_EVERY = 1 / 16
LEFT_AFTER_PRUNING = 0.9
_numbers = count()


class Entry(Discreet):
    """An answer as it was stored; `hops` are the redirects on one host that led to it."""

    unshown = frozenset({"body"})

    url: str
    status: int
    headers: Mapping[str, str]
    stored_at: float
    hops: int = 0
    redirect_to: str | None = None
    body: bytes = b""


class Summary(Frozen):
    """What is in a cache."""

    entries: int = 0
    bytes: int = 0
    oldest: float | None = None
    newest: float | None = None


class _File(Frozen):
    path: Path
    bytes: int
    used_at: float


class Cache:
    """One folder. Any number of processes may read and write it at the same time."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.folder = folder
        self._max_bytes = max_bytes
        self._unmeasured = max_bytes  # so that the first write measures what is there
        self._measuring = Lock()
        self._complained = False

    def get(self, key: str) -> Entry | None:
        """What was stored under this key; None where there is nothing, or nothing that can be trusted."""
        path = self._path(key)
        try:
            entry = _unpack(path.read_bytes())
            os.utime(path)
        except (OSError, ValueError, TypeError, KeyError, zlib.error):
            return None
        return entry

    def put(self, key: str, entry: Entry) -> None:
        """Store an answer in place of whatever was there. A disk that refuses costs the cache, not the crawl."""
        packed = _pack(entry)
        path = self._path(key)
        unfinished = path.with_name(f".{path.stem}.{os.getpid()}.{next(_numbers)}.tmp")
        try:
            _make(self.folder)
            _make(path.parent)
            unfinished.touch(mode=0o600, exist_ok=False)
            unfinished.write_bytes(packed)
            unfinished.replace(path)
        except OSError as error:
            with suppress(OSError):
                unfinished.unlink()
            self._complain(error)
            return
        self._unmeasured += len(packed)
        if self._unmeasured > self._max_bytes * MEASURED_EVERY:
            self._prune()

    def clear(self) -> Summary:
        """Remove everything that is ours, and nothing else; what it was."""
        gone = self.summary()
        for file in self._files():
            file.path.unlink(missing_ok=True)
        for path in self._unfinished():
            path.unlink(missing_ok=True)
        for folder in self._folders():
            try:
                folder.rmdir()
            except OSError:
                continue  # somebody is writing to it
        return gone

    def summary(self) -> Summary:
        found = Summary()
        for file in self._files():
            found = Summary(
                found.entries + 1,
                found.bytes + file.bytes,
                file.used_at if found.oldest is None else min(found.oldest, file.used_at),
                file.used_at if found.newest is None else max(found.newest, file.used_at),
            )
        return found

    def _prune(self) -> None:
        """Remove what was not used for longest, if there is too much. One at a time, in one process at a time."""
        if not self._measuring.acquire(blocking=False):
            return
        try:
            with (self.folder / "lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._remove_oldest()
            self._unmeasured = 0
        except BlockingIOError:
            self._unmeasured = 0  # another process is at it
        except OSError as error:
            self._complain(error)
        finally:
            self._measuring.release()

    def _remove_oldest(self) -> None:
        files = sorted(self._files(), key=lambda file: file.used_at)
        size = sum(file.bytes for file in files)
        if size > self._max_bytes:
            for file in files:
                if size <= self._max_bytes * LEFT_AFTER_PRUNING:
                    break
                file.path.unlink(missing_ok=True)
                size -= file.bytes
        for path in self._unfinished():
            try:
                if path.stat().st_mtime < time() - ABANDONED_SECONDS:
                    path.unlink()
            except OSError:
                continue  # it was finished meanwhile

    def _files(self) -> Iterator[_File]:
        for path in self._named(_NAME):
            try:
                about = path.stat()
            except OSError:
                continue  # somebody else removed it
            yield _File(path, about.st_size, about.st_mtime)

    def _unfinished(self) -> Iterator[Path]:
        return self._named(_UNFINISHED)

    def _named(self, name: re.Pattern[str]) -> Iterator[Path]:
        for folder in self._folders():
            yield from (path for path in _inside(folder) if name.fullmatch(path.name))

    def _folders(self) -> list[Path]:
        return [path for path in _inside(self.folder) if _FOLDER.fullmatch(path.name)]

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key[2:]}.page"

    def _complain(self, error: OSError) -> None:
        if not self._complained:
            self._complained = True
            log.warning("The cache can't be written", action="cache_failed", folder=str(self.folder), error=str(error))


def refreshed(entry: Entry, headers: Mapping[str, str], now: float) -> Entry:
    """The same answer, which the site has just said is still good."""
    return replace(entry, headers={**entry.headers, **headers}, stored_at=now)


def _make(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _inside(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _pack(entry: Entry) -> bytes:
    about = [entry.url, entry.status, dict(entry.headers), entry.stored_at, entry.hops, entry.redirect_to]
    packed = zlib.compress(orjson.dumps(about) + b"\n" + entry.body, 1)
    return _MAGIC + packed


def _unpack(data: bytes) -> Entry:
    if not data.startswith(_MAGIC):
        raise ValueError("not an entry")
    # zlib knows the sum of what it packed, and where it ends: half an entry, or a damaged one, is an error.
    about, _, body = zlib.decompress(data[len(_MAGIC) :]).partition(b"\n")
    url, status, headers, stored_at, hops, redirect_to = orjson.loads(about)
    return Entry(url, status, headers, stored_at, hops, redirect_to, body)
