"""Content encodings: undone here rather than by the HTTP client, so that bytes are counted as they come over the wire."""

from __future__ import annotations

import zlib

from tarantella.domain.failure import Failure
from tarantella.fetchers.contract import FetchError

_GZIP = 16 + zlib.MAX_WBITS
# Servers call two formats "deflate": with zlib's header, as they should, and without.
_WINDOWS = {"gzip": (_GZIP,), "x-gzip": (_GZIP,), "deflate": (zlib.MAX_WBITS, -zlib.MAX_WBITS)}
# Real ones that are not undone here. Any other word is a mistake, mostly a charset, and means nothing to browsers either.
_OTHERS = frozenset({"br", "zstd", "compress", "x-compress"})
_DEEPEST = 2
# A gzip file may be several in a row. Few need this many, and each costs a copy of all that follows it.
_MOST_MEMBERS = 100
_GZIP_BEGINS = b"\x1f\x8b"


def decode(body: bytes, encodings: str, limit: int, *, whole: bool) -> bytes:
    """The body as it was before it was encoded; `whole` says that it must not end early."""
    words = (part.strip().lower() for part in encodings.split(","))
    names = [word for word in words if word in _WINDOWS or word in _OTHERS]
    if len(names) > _DEEPEST or any(name not in _WINDOWS for name in names):
        raise _undecodable(encodings)
    for name in reversed(names):
        body = _inflate(body, name, limit, whole=whole)
    return body


def _inflate(body: bytes, name: str, limit: int, *, whole: bool) -> bytes:
    if not body:
        return b""
    for window in _WINDOWS[name]:
        try:
            plain, ended = _unpack(body, window, limit)
        except zlib.error:
            continue
        if len(plain) > limit:
            if whole:
                raise FetchError(Failure.TOO_LARGE, "decoded", f"The page is larger than {limit:,} bytes.")
            return plain[:limit]
        if whole and not ended:
            break
        return plain
    raise _undecodable(name)


def _unpack(body: bytes, window: int, limit: int) -> tuple[bytes, bool]:
    """What is inside, and whether it came to its end. One byte more than allowed is enough to know: a bomb stays packed."""
    inflater = zlib.decompressobj(window)
    plain = inflater.decompress(body, limit + 1)
    if not inflater.unused_data.startswith(_GZIP_BEGINS) or window != _GZIP:
        return plain, inflater.eof
    parts, length = [plain], len(plain)
    for _ in range(_MOST_MEMBERS):
        rest = inflater.unused_data
        if length > limit or not rest.startswith(_GZIP_BEGINS):
            break
        inflater = zlib.decompressobj(window)
        parts.append(inflater.decompress(rest, limit + 1 - length))
        length += len(parts[-1])
    else:
        return b"", False
    return b"".join(parts), inflater.eof


def _undecodable(encodings: str) -> FetchError:
    return FetchError(Failure.NETWORK, "decode", f"The body is not really encoded as {encodings[:60]!r}.")
