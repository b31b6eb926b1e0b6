"""Small bodies that become large: one for each encoding, made by hand where the standard library has no encoder."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache

from tests.site.hostile import HEAD, LAST_CHUNK, MEGABYTE, chunk
from tests.site.registry import Call, route
from tests.site.request import BadRequestError

CHUNK = 64 * 1024
FILLER = b" "


@route("/bomb")
async def bomb(call: Call) -> None:
    """`/bomb?as=br&mb=200&says=gzip,br&chunked=1`: so many megabytes of blanks in this encoding, under that name."""
    request = call.request
    encoding = request.text("as", "gzip")
    if encoding not in ENCODERS:
        raise BadRequestError(f"as must be one of {', '.join(ENCODERS)}, not {encoding!r}")
    body = packed(encoding, request.integer("mb", 200))
    head = HEAD + b"Content-Encoding: %s\r\n" % request.text("says", encoding.removeprefix("raw-")).encode()
    if not request.integer("chunked", 0):
        await call.send(head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        return
    await call.send(head + b"Transfer-Encoding: chunked\r\n\r\n")
    for start in range(0, len(body), CHUNK):
        await call.send(chunk(body[start : start + CHUNK]))
    await call.send(LAST_CHUNK)


@lru_cache(maxsize=32)
def packed(encoding: str, megabytes: int) -> bytes:
    """So many megabytes of blanks, encoded."""
    return ENCODERS[encoding](megabytes * MEGABYTE)


def _deflated(size: int) -> bytes:
    """One megabyte that depends on nothing before it, again and again."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    piece = squeeze.compress(FILLER * MEGABYTE) + squeeze.flush(zlib.Z_FULL_FLUSH)
    return piece * (size // MEGABYTE) + squeeze.flush()


def _summed(size: int, checksum: Callable[[bytes, int], int], start: int) -> int:
    for _ in range(size // MEGABYTE):
        start = checksum(FILLER * MEGABYTE, start)
    return start


def _gzip(size: int) -> bytes:
    ending = struct.pack("<II", _summed(size, zlib.crc32, 0), size % 2**32)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + _deflated(size) + ending


def _zlib(size: int) -> bytes:
    return b"\x78\xda" + _deflated(size) + struct.pack(">I", _summed(size, zlib.adler32, 1))


def _zstd(size: int) -> bytes:
    """Blocks that say "the same byte, so many times"."""
    block = 128 * 1024
    frame = bytearray(b"\x28\xb5\x2f\xfd\x00\x38")  # no size, no checksum, a window of a block
    for done in range(0, size, block):
        length, last = min(block, size - done), size - done <= block
        frame += (length << 3 | 1 << 1 | last).to_bytes(3, "little") + FILLER
    return bytes(frame)


def _brotli(size: int) -> bytes:
    """Meta-blocks of one literal and one copy of it, 16 MB each."""
    # Bits are written from the lowest on; every prefix code has a single symbol, which then takes no bits at all.
    bits, count = 0, 0

    def write(value: int, width: int) -> None:
        nonlocal bits, count
        bits |= value << count
        count += width

    write(0, 1)  # a window of 64 KB
    longest = 1 << 24
    for done in range(0, size, longest):
        length = min(longest, size - done)
        write(0, 1)  # not the last one
        nibbles = max(4, ((length - 1).bit_length() + 3) // 4)  # of its length less one; none may be wasted
        write(nibbles - 4, 2)
        write(length - 1, 4 * nibbles)
        write(0, 1)  # compressed
        write(0, 3)  # one block type for literals, commands and distances each
        write(0, 6)  # no postfix bits, no direct distances
        write(0, 2)  # context mode of literals
        write(0, 2)  # one tree for literals, one for distances
        for symbol, width in ((FILLER[0], 8), (384 + (1 << 3) + 7, 10), (16, 6)):
            write(1, 2)  # a simple code
            write(0, 2)  # of one symbol
            write(symbol, width)
        write(length - 1 - 2118, 24)  # the command: insert one literal, copy the rest
        write(0, 1)  # from one byte back
    write(3, 2)  # the last one, and empty
    return bits.to_bytes((count + 7) // 8, "little")


ENCODERS: Mapping[str, Callable[[int], bytes]] = {
    "gzip": _gzip,
    "deflate": _zlib,
    "raw-deflate": _deflated,
    "gzip-gzip": lambda size: gzip.compress(_gzip(size)),
    "br": _brotli,
    "zstd": _zstd,
}
