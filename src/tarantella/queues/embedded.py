"""Hints between the processes of one data directory: a datagram socket for each worker."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

# A socket's address has about a hundred bytes. A longer path simply means that hints are not sent, and polling finds the work.
LONGEST_ADDRESS = 100
BELL_WAITS = 0.005  # seconds


class Hints:
    """Receives hints for this worker, and sends them to others."""

    def __init__(self, folder: Path, worker_id: str) -> None:
        self._folder = folder
        self._path = folder / f"{worker_id}.sock"
        self._socket: socket.socket | None = None

    def listen(self, woken: Callable[[], None]) -> None:
        """Call this whenever somebody says that there may be work."""
        if len(os.fsencode(self._path)) > LONGEST_ADDRESS:
            return
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        receiver.setblocking(False)
        with suppress(OSError):
            receiver.bind(str(self._path))
        self._socket = receiver

        def received() -> None:
            with suppress(OSError):
                while receiver.recv(16):
                    pass
            woken()

        asyncio.get_running_loop().add_reader(receiver, received)

    def send(self, worker_ids: Iterable[str]) -> None:
        """Wake these workers, if they listen."""
        if self._socket is None:
            return
        for worker_id in worker_ids:
            with suppress(OSError):
                self._socket.sendto(b"!", str(self._folder / f"{worker_id}.sock"))

    def tell(self, run_ids: Iterable[str]) -> None:
        """Whoever watches a run here looks at it a few times a second, which costs next to nothing on one machine."""

    async def close(self) -> None:
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
            self._path.unlink(missing_ok=True)
            self._socket = None


class Bell:
    """Wakes all workers of a data directory. Many rings in a moment are one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._socket: socket.socket | None = None
        self._pending: asyncio.TimerHandle | None = None

    def call(self, run_id: str, priority: int) -> None:
        self.ring()

    def ring(self) -> None:
        if self._pending is None:
            self._pending = asyncio.get_running_loop().call_later(BELL_WAITS, self._ring)

    async def close(self) -> None:
        if self._pending is not None:
            self._pending.cancel()
            self._ring()
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _ring(self) -> None:
        self._pending = None
        if self._socket is None:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._socket.setblocking(False)
        with suppress(OSError):
            for path in self._folder.glob("*.sock"):
                with suppress(OSError):
                    self._socket.sendto(b"!", str(path))
