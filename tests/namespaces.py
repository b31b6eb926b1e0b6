"""Machines of their own on this one: network namespaces on a bridge, each of which can be cut off. For root only."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from itertools import count
from types import TracebackType
from typing import Self

import pytest

_NUMBERS = count(os.getpid() % 200)


def namespaces_or_skip() -> None:
    """Without root, or where the kernel refuses, these tests can't run: that is told, wherever it is."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("Network namespaces need root, and `ip` of iproute2.")
    if subprocess.run(["ip", "netns", "add", "tarantella-probe"], capture_output=True, check=False).returncode:
        pytest.skip("This system makes no network namespaces.")
    subprocess.run(["ip", "netns", "delete", "tarantella-probe"], check=True)


class Network:
    """A bridge with some addresses of ours, and machines on it."""

    def __init__(self, machines: int, addresses: int) -> None:
        self._name = f"tb{next(_NUMBERS) % 250}"
        self._net = f"10.{200 + os.getpid() % 50}.{next(_NUMBERS) % 250}"
        self.network = f"{self._net}.0/24"
        self.addresses = [f"{self._net}.{number}" for number in range(1, addresses + 1)]
        self._machines = [f"{self._name}m{number}" for number in range(machines)]
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        with self._undo:
            _ip("link", "add", self._name, "type", "bridge")
            self._undo.callback(_ip, "link", "delete", self._name)
            for address in self.addresses:
                _ip("address", "add", f"{address}/24", "dev", self._name)
            _ip("link", "set", self._name, "up")
            for number, machine in enumerate(self._machines):
                self._add(machine, f"{self._net}.{100 + number}/24")
            self._undo = self._undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._undo.close()

    def on(self, machine: int, command: Sequence[str]) -> list[str]:
        """The command, to be run on that machine."""
        return ["ip", "netns", "exec", self._machines[machine], *command]

    def cut(self, machine: int) -> None:
        _ip("link", "set", f"{self._machines[machine]}v", "down")

    def mend(self, machine: int) -> None:
        _ip("link", "set", f"{self._machines[machine]}v", "up")

    def _add(self, machine: str, address: str) -> None:
        here, there = f"{machine}v", f"{machine}e"
        _ip("netns", "add", machine)
        self._undo.callback(_ip, "netns", "delete", machine)
        _ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", machine)
        _ip("link", "set", here, "master", self._name, "up")
        for rest in (
            ("address", "add", address, "dev", there),
            ("link", "set", there, "up"),
            ("link", "set", "lo", "up"),
        ):
            _ip("-n", machine, *rest)


class Relay:
    """Makes a port of loopback reachable at other addresses."""

    def __init__(self, addresses: Sequence[str], target: int) -> None:
        self._addresses = addresses
        self._target = target
        self.port = 0
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())
        self._ready.set()
        self._loop.run_forever()

    async def _listen(self) -> None:
        self._servers = []
        for address in self._addresses:
            server = await asyncio.start_server(self._carry, address, self.port)
            self.port = server.sockets[0].getsockname()[1]
            self._servers.append(server)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_pour(reader, back), _pour(there, writer))


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    with suppress(OSError):
        writer.close()


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
