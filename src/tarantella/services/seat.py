"""The one server of a data directory: a lock that it holds for life, and a file that tells others where it listens."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import orjson

from tarantella.domain.errors import Conflict, StoreBroken
from tarantella.domain.struct import Frozen, asdict

LOCK, FILE = "server.lock", "server.json"


class ServerInfo(Frozen):
    """A server that runs."""

    url: str
    endpoints: tuple[tuple[str, int], ...]  # the addresses that it listens at; nothing ever fetches from there
    pid: int
    started_at: float
    version: str

    @classmethod
    def of(cls, data: dict[str, Any]) -> Self:
        endpoints = tuple((str(address), int(port)) for address, port in data["endpoints"])
        return cls(str(data["url"]), endpoints, int(data["pid"]), float(data["started_at"]), str(data["version"]))


class Seat:
    """Taken by the server of a data directory until its process ends, however it ends."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        try:
            data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Python opens files close-on-exec: no engine keeps the lock when we are gone.
            self._lock = os.open(data_dir / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreBroken(
                f"{data_dir} can't be written: {error.strerror}.",
                remedy="Choose another folder with --data-dir, or become its owner.",
            ) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            there = _read(data_dir)
            who = f" at {there.url} (process {there.pid})" if there is not None else ""
            raise Conflict(
                f"Another server is already there for {data_dir}{who}.",
                remedy="Use that one, stop it, or choose another folder with --data-dir.",
            ) from None
        self._file.unlink(missing_ok=True)

    def announce(self, info: ServerInfo) -> None:
        """Tell commands and engines where the server listens."""
        new = self._file.with_suffix(".new")
        try:
            new.write_bytes(orjson.dumps(asdict(info), option=orjson.OPT_INDENT_2) + b"\n")
            new.rename(self._file)
        except OSError as error:
            raise StoreBroken(
                f"{self._file} can't be written: {error.strerror}.", remedy="Choose another folder with --data-dir."
            ) from None

    def leave(self) -> None:
        self._file.unlink(missing_ok=True)
        os.close(self._lock)

    @property
    def _file(self) -> Path:
        return self._data_dir / FILE


def running(data_dir: Path) -> ServerInfo | None:
    """The server that runs on this data directory, if one does; what a dead one left behind says nothing."""
    try:
        lock = os.open(data_dir / LOCK, os.O_RDWR)
    except OSError:
        return None
    try:
        # Shared, so that two who look at the same moment don't take each other for the server.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _read(data_dir)
    finally:
        os.close(lock)
    return None


def refused_endpoints(data_dir: Path) -> Sequence[tuple[str, int]]:
    """Where the control plane listens: that is never fetched, whatever a run may reach otherwise."""
    info = running(data_dir)
    return () if info is None else info.endpoints


def _read(data_dir: Path) -> ServerInfo | None:
    try:
        return ServerInfo.of(orjson.loads((data_dir / FILE).read_bytes()))
    except (OSError, ValueError, KeyError, TypeError):
        return None
