"""What broken and malicious servers send."""

from __future__ import annotations

import asyncio
import socket
import struct
import zlib
from collections.abc import Iterator

from tests.site.registry import Call, route
from tests.site.reply import HTML, Reply, page

MEGABYTE = 1024 * 1024
BLOCK = b"<p>More of the same, and no end in sight.</p>\n" * 1400
FOREVER = 1_000_000_000

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
CHUNKED_HEAD = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"


@route("/gzip-bomb")
async def gzip_bomb(call: Call) -> None:
    """`/gzip-bomb?mb=200`: a small body that decompresses to so many megabytes."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    await call.send(HEAD + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(call.request.integer("mb", 200)):
        await call.send(chunk(squeeze.compress(b" " * MEGABYTE)))
    await call.send(chunk(squeeze.flush()) + LAST_CHUNK)


@route("/huge")
async def huge(call: Call) -> None:
    """`/huge?mb=200`: a chunked body of so many megabytes."""
    await call.send(CHUNKED_HEAD)
    for _ in range(call.request.integer("mb", 200) * MEGABYTE // len(BLOCK) + 1):
        await call.send(chunk(BLOCK))
    await call.send(LAST_CHUNK)


@route("/endless")
async def endless(call: Call) -> None:
    """A body that goes on for as long as somebody listens."""
    await call.send(CHUNKED_HEAD)
    for _ in range(FOREVER):
        await call.send(chunk(BLOCK))


@route("/tiny-chunks")
async def tiny_chunks(call: Call) -> None:
    """`/tiny-chunks?n=1000000`: a body in chunks of one byte."""
    await call.send(CHUNKED_HEAD)
    count, batch = call.request.integer("n", 1_000_000), 10_000
    for start in range(0, count, batch):
        await call.send(chunk(b"x") * min(batch, count - start))
    await call.send(LAST_CHUNK)


@route("/drip-headers")
async def drip_headers(call: Call) -> None:
    """`/drip-headers?every=0.2`: one byte of the head at a time, without end."""
    await _drip(call, HEAD, _letters(b"X-Drip: drop\r\n"))


@route("/drip-body")
async def drip_body(call: Call) -> None:
    """`/drip-body?every=0.2`: one byte of the body at a time, without end."""
    await _drip(call, HEAD + b"Content-Length: 1000000000\r\n\r\n", _letters(b"drop "))


@route("/endless-1xx")
async def endless_1xx(call: Call) -> None:
    """`/endless-1xx?every=0.01`: one interim response after the other, and never a final one."""
    interim = b"HTTP/1.1 103 Early Hints\r\n\r\n"
    await _drip(call, interim, (interim for _ in range(FOREVER)), default_seconds=0.01)


@route("/never")
async def never(_call: Call) -> None:
    """Takes the request and stays silent until the client leaves, which cancels this."""
    await asyncio.Event().wait()


@route("/reset-in-body")
async def reset_in_body(call: Call) -> None:
    """Half a body, then a TCP reset."""
    await call.send(HEAD + b"Content-Length: 10000\r\n\r\n" + b"x" * 5000)
    # What has not been read when the reset arrives is lost, so give the client time to read the first half.
    await asyncio.sleep(0.05)
    listener = call.writer.get_extra_info("socket")
    with socket.socket(fileno=socket.dup(listener.fileno())) as twin:
        twin.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    call.writer.transport.abort()


@route("/short-body")
async def short_body(call: Call) -> None:
    """Less than Content-Length promised."""
    await call.send(HEAD + b"Content-Length: 10000\r\n\r\n" + b"x" * 5000)


@route("/conflicting-lengths")
async def conflicting_lengths(call: Call) -> None:
    """Two Content-Lengths that differ."""
    await call.send(HEAD + b"Content-Length: 5\r\nContent-Length: 10\r\n\r\nhelloworld")


@route("/garbage")
async def garbage(call: Call) -> None:
    """Something, but not HTTP."""
    await call.send(b"\x00\xff this was never a status line\r\n\r\n<h1>hello</h1>")


@route("/many-headers")
async def many_headers(call: Call) -> Reply:
    """`/many-headers?n=10000`: so many headers."""
    count = call.request.integer("n", 10_000)
    return Reply(200, page("Many headers").body, HTML, tuple((f"X-{number}", "y") for number in range(count)))


@route("/long-header")
async def long_header(call: Call) -> Reply:
    """`/long-header?kb=1024`: one header of so many kilobytes."""
    return page("A long header", x_long="y" * (call.request.integer("kb", 1024) * 1024))


def chunk(data: bytes) -> bytes:
    # An empty chunk would end the body.
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""


def _letters(text: bytes) -> Iterator[bytes]:
    return (text[turn % len(text) :][:1] for turn in range(FOREVER))


async def _drip(call: Call, head: bytes, drops: Iterator[bytes], default_seconds: float = 0.2) -> None:
    seconds = call.request.number("every", default_seconds)
    await call.send(head)
    for drop in drops:
        await asyncio.sleep(seconds)
        await call.send(drop)
