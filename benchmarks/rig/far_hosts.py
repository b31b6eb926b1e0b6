"""Many hosts that each take their time: a server on loopback addresses whose every answer comes after a fixed wait.

`python -m benchmarks.rig.far_hosts HOSTS PAGES WAIT_MS`: prints its port. `/` of the first host leads to all hosts, `/p/` of each to its pages.
"""

from __future__ import annotations

import asyncio
import sys
from typing import cast

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


def host(number: int) -> str:
    return f"127.0.{1 + number // 200}.{1 + number % 200}"


class Answering(asyncio.Protocol):
    """One connection; requests come one after the other."""

    def __init__(self, pages: dict[bytes, bytes], wait: float) -> None:
        self._pages = pages
        self._wait = wait
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        path = data.split(b" ", 2)[1]
        if path == b"/robots.txt":
            self._transport.write(NOT_FOUND)
        else:
            self._loop.call_later(self._wait, self._answer, path)

    def _answer(self, path: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._pages.get(path) or self._pages[b"*"])


def answers(hosts: int, pages: int, port: int) -> dict[bytes, bytes]:
    def page(links: list[str]) -> bytes:
        body = "<html><title>far</title>" + "".join(f'<a href="{link}">a</a>' for link in links)
        return HEAD % len(body) + body.encode()

    return {
        b"/": page([f"http://{host(number)}:{port}/p/" for number in range(hosts)]),
        b"/p/": page([f"/p/{number}" for number in range(1, pages)]),
        b"*": page([]),
    }


async def serve(hosts: int, pages: int, wait: float) -> None:
    loop = asyncio.get_running_loop()
    made: dict[bytes, bytes] = {}
    server = await loop.create_server(lambda: Answering(made, wait), "0.0.0.0", 0, backlog=4_096)
    port = server.sockets[0].getsockname()[1]
    made.update(answers(hosts, pages, port))
    print(port, flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    import uvloop

    uvloop.run(serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) / 1_000))
