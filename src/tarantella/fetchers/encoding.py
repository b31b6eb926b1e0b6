"""Content encodings that the HTTP client leaves alone: odd names, deflate, one on top of another."""

from __future__ import annotations

import zlib

from tarantella.domain.failure import Failure
from tarantella.fetchers.contract import FetchError

_GZIP = 16 + zlib.MAX_WBITS
# Servers call two formats "deflate": with zlib's header, as they should, and without.
_WINDOWS = {"gzip": (_GZIP,), "x-gzip": (_GZIP,), "deflate": (zlib.MAX_WBITS, -zlib.MAX_WBITS)}
_DEEPEST = 2


def decode(body: bytes, encodings: str, limit: int, *, whole: bool) -> bytes:
    """The body as it was before it was encoded; `whole` says that it must not end early."""
    names = [name for part in encodings.split(",") if (name := part.strip().lower()) not in ("", "identity")]
    if len(names) > _DEEPEST or any(name not in _WINDOWS for name in names):
        raise _undecodable(encodings)
    for name in reversed(names):
        body = _inflate(body, name, limit, whole=whole)
    return body


def _inflate(body: bytes, name: str, limit: int, *, whole: bool) -> bytes:
    if not body:
        return b""
    for window in _WINDOWS[name]:
        inflater = zlib.decompressobj(window)
        try:
            # One byte more than allowed is enough to know; a bomb is never unpacked.
            plain = inflater.decompress(body, limit + 1)
        except zlib.error:
            continue
        if len(plain) > limit:
            if whole:
                raise FetchError(Failure.TOO_LARGE, "decoded", f"The page is larger than {limit:,} bytes.")
            return plain[:limit]
        if whole and not inflater.eof:
            break
        return plain
    raise _undecodable(name)


def _undecodable(encodings: str) -> FetchError:
    return FetchError(Failure.NETWORK, "decode", f"The body is not really encoded as {encodings[:60]!r}.")
