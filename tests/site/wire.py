"""Servers that are no more than a socket: they say what they are told to, in the clear or over TLS."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

Converse = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def wire(converse: Converse, certificate: Path | None = None, host: str = "127.0.0.1") -> AsyncIterator[int]:
    """The port of a server that leads this conversation with everybody who connects."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await converse(reader, writer)
        writer.close()

    server = await asyncio.start_server(serve, host, 0, ssl=_context(certificate) if certificate else None)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def saying(answer: bytes) -> Converse:
    """Answers every request head with these bytes and hangs up."""
    return answering(lambda _head: answer)


def answering(answer: Callable[[bytes], bytes]) -> Converse:
    """Answers every request head with what this makes of it, and hangs up."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(await reader.readuntil(b"\r\n\r\n")))
        await writer.drain()

    return converse


async def silence(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Accepts, reads, and never says a word."""
    await reader.read()


def _context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.with_suffix(".pem"), certificate.with_suffix(".key"))
    return context
