"""A list that scripts fill, served by a process of its own, which says on which port."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

ITEMS = 20  # of one page
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Goods</title></head><body><ul id="list"></ul>
<nav>LINKS</nav><script>
(async () => {
  const answer = await (await fetch("/api/goods?page=NUMBER")).json();
  document.getElementById("list").innerHTML = answer.goods.map((one) => `<li class="goods"><h2 class="name">${one.name}</h2>`
    + `<span class="price">${one.price.toFixed(2)}</span><p class="about">${one.about}</p></li>`).join("");
})();
</script></body></html>"""


def goods(number: int) -> dict[str, object]:
    return {
        "name": f"Goods number {number}",
        "price": number * 1.25,
        "about": f"All about {number}. " * 20,
        "id": number,
    }


def _answer(target: str, pages: int) -> tuple[str, bytes]:
    split = urlsplit(target)
    number = int(parse_qs(split.query).get("page", ["1"])[0])
    if split.path == "/list":
        links = "".join(f'<a class="page" href="/list?page={each}">{each}</a>' for each in range(2, pages + 1))
        return "text/html; charset=utf-8", PAGE.replace("LINKS", links).replace("NUMBER", str(number)).encode()
    if split.path == "/api/goods":
        found = [goods(each) for each in range((number - 1) * ITEMS + 1, number * ITEMS + 1)] if number <= pages else []
        return "application/json", json.dumps({"goods": found, "page": number, "total_pages": pages}).encode()
    return "", b""


async def serve(pages: int) -> None:
    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                kind, body = _answer(head.split(b" ", 2)[1].decode(), pages)
                status = "200 OK" if kind else "404 Not Found"
                first = (
                    f"HTTP/1.1 {status}\r\nContent-Type: {kind or 'text/plain'}\r\nContent-Length: {len(body)}\r\n\r\n"
                )
                writer.write(first.encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(converse, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    # Whoever started us closes this when it is enough.
    await asyncio.to_thread(sys.stdin.read)


@contextmanager
def serving(pages: int) -> Iterator[str]:
    """The list while the block runs; the address of its first page."""
    command = [sys.executable, __file__, str(pages)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/list"
        process.stdin.close()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
