"""An HTTP/2 server of a few frames, which breaks off where a real one only rarely does."""

from __future__ import annotations

import asyncio
import ssl
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Self

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY, CONTINUATION = 0, 1, 3, 4, 7, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4
NO_ERROR, INTERNAL_ERROR, ENHANCE_YOUR_CALM = 0, 2, 11
STATUS_200 = b"\x88"  # the eighth entry of the table that every HTTP/2 implementation has

Answer = Callable[[int, int], bytes | None]  # (stream, how many came before) → frames; None hangs up


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def page(stream: int, body: bytes = b"<title>OK</title>") -> bytes:
    return frame(HEADERS, END_HEADERS, stream, STATUS_200) + frame(DATA, END_STREAM, stream, body)


def with_long_head(stream: int, length: int) -> bytes:
    """A page whose head has a header of this length."""
    assert length > 127
    digits, rest = [], length - 127
    while rest >= 128:
        digits.append(rest % 128 + 128)
        rest //= 128
    return with_head(stream, b"\0\x06x-long\x7f" + bytes((*digits, rest)) + b"x" * length)


def with_cookies(stream: int, count: int) -> bytes:
    """A page that sets so many cookies."""
    values = (f"c{number}=1".encode() for number in range(count))
    return with_head(stream, b"".join(b"\0\x0aset-cookie" + bytes((len(value),)) + value for value in values))


def with_head(stream: int, headers: bytes) -> bytes:
    """A page with these headers, in as many frames as they take."""
    head = STATUS_200 + headers
    first, *others = (head[start : start + 16_384] for start in range(0, len(head), 16_384))
    frames = [frame(HEADERS, 0, stream, first), *(frame(CONTINUATION, 0, stream, other) for other in others)]
    return b"".join(frames) + frame(CONTINUATION, END_HEADERS, stream) + frame(DATA, END_STREAM, stream, b"OK")


def beginning(stream: int) -> bytes:
    """A page that has begun and promises more."""
    return frame(HEADERS, END_HEADERS, stream, STATUS_200) + frame(DATA, 0, stream, b"<title>")


def reset(stream: int, code: int = INTERNAL_ERROR) -> bytes:
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def goaway(last: int = 0, code: int = NO_ERROR, words: bytes = b"") -> bytes:
    return frame(GOAWAY, 0, 0, struct.pack(">II", last, code) + words)


class Http2Server:
    """Answers each request with the frames that a test wants; `async with`."""

    def __init__(self, certificate: Path, answer: Answer) -> None:
        self.requests = 0
        self._answer = answer
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate.with_suffix(".pem"), certificate.with_suffix(".key"))
        self._context.set_alpn_protocols(["h2"])

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._converse, "127.0.0.1", 0, ssl=self._context)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readexactly(len(PREFACE))
            writer.write(frame(SETTINGS, 0, 0))
            while True:
                head = await reader.readexactly(9)
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
                await reader.readexactly(int.from_bytes(head[:3], "big"))
                if kind == SETTINGS and not flags & ACK:
                    writer.write(frame(SETTINGS, ACK, 0))
                elif kind == HEADERS:
                    frames = self._answer(stream, self.requests)
                    self.requests += 1
                    if frames is None:
                        break
                    writer.write(frames)
                    await writer.drain()
        except (OSError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            writer.close()
