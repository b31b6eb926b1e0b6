"""Names to addresses, off the event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from threading import Thread

from tarantella.fetchers.addresses import Address
from tarantella.fetchers.single_flight import Flights
from tarantella.fetchers.ttl_cache import Memory

Lookup = Callable[[str], Sequence[str]]


def system_lookup(host: str) -> list[str]:
    """What this machine's resolver says, in its order of preference."""
    found = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return [str(sockaddr[0]) for _, _, _, _, sockaddr in found]


class Dns:
    """A resolver with a short memory. Its threads are daemons: a stuck look-up must not hold up the exit."""

    def __init__(
        self, lookup: Lookup = system_lookup, *, ttl: float = 60.0, size: int = 4096, at_once: int = 32
    ) -> None:
        self._lookup = lookup
        self._slots = asyncio.Semaphore(at_once)
        self._known: Memory[str, tuple[Address, ...]] = Memory(ttl, size)
        self._asked: Flights[str, tuple[Address, ...]] = Flights()

    async def resolve(self, host: str, within: float) -> tuple[Address, ...]:
        """All addresses of a name; OSError when there are none, TimeoutError when it takes too long."""
        if (known := self._known.get(host)) is not None:
            return known
        async with asyncio.timeout(within):
            return await self._asked.join(host, lambda: self._ask(host))

    async def _ask(self, host: str) -> tuple[Address, ...]:
        async with self._slots:
            answers = await self._in_thread(host)
        addresses = tuple(dict.fromkeys(ip_address(answer) for answer in answers))
        if not addresses:
            raise OSError("no addresses")
        self._known.put(host, addresses)
        return addresses

    async def _in_thread(self, host: str) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Sequence[str]] = loop.create_future()

        def deliver(answers: Sequence[str], error: Exception | None) -> None:
            if done.cancelled():
                return
            if error is None:
                done.set_result(answers)
            else:
                done.set_exception(error)

        def work() -> None:
            answers: Sequence[str] = ()
            failure = None
            try:
                answers = self._lookup(host)
            except Exception as error:
                failure = error
            # The loop may be gone by the time a slow resolver answers.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(deliver, answers, failure)

        Thread(target=work, name="tarantella-dns", daemon=True).start()
        return await done
