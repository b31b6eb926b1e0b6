"""The text in a file of any size, piece by piece: unpacked by its first bytes, whatever its name or type says."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from itertools import chain

from tarantella.extractors.charset import decode_xml, other_in_xml

PIECE = 32 * 1024
_GZIP = b"\x1f\x8b"
_MOST_LAYERS = 2  # some servers compress what is compressed
_UTF16 = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))


class Damaged(Exception):
    """The pieces end here, and not where the file does; the message says why."""


class Unpacked:
    """Pieces of text in UTF-8; raises Damaged after the last that could be had, or at once where there is none."""

    def __init__(self, body: bytes, limit: int) -> None:
        pieces: Iterator[bytes] = (body[start : start + PIECE] for start in range(0, len(body), PIECE))
        first = next(pieces, b"")
        for _ in range(_MOST_LAYERS):
            if not first.startswith(_GZIP):
                break
            pieces = _inflated(chain([first], pieces))
            first = next(pieces, b"")
        codec = next((codec for mark, codec in _UTF16 if first.startswith(mark)), None)
        self._pieces = _within(limit, chain([first], pieces))
        if codec is None and (charset := other_in_xml(first)) is not None:
            self._pieces = (text.encode() for text in decode_xml(self._pieces, charset))
        else:
            # In UTF-8, too, there may be bytes that are none: one of them must not cost all that follows it.
            self._pieces = _as_utf8(self._pieces, codec or "utf-8")

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces


def _inflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    for packed in pieces:
        while packed:
            if inflater.eof:
                if not packed.startswith(_GZIP):
                    return  # padding
                # Files that were compressed one by one and put together.
                inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
            try:
                plain = inflater.decompress(packed, PIECE)
            except zlib.error:
                raise Damaged("its compression is damaged") from None
            packed = inflater.unconsumed_tail or inflater.unused_data
            if plain:
                yield plain
    if not inflater.eof:
        raise Damaged("its compressed data ends too early")


def _within(limit: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
    left = limit
    for piece in pieces:
        yield piece[:left]
        left -= len(piece)
        if left < 0:
            raise Damaged(f"it is longer than {limit:,} bytes")


def _as_utf8(pieces: Iterator[bytes], codec: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(codec)("replace")
    for piece in pieces:
        yield decoder.decode(piece).encode("utf-8", "replace")
