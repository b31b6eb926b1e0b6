"""Which characters a body's bytes stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

import turbohtml

from tarantella.extractors import shadow

# Guessing costs about 0.4 µs a byte, so it looks at one stretch of the body, not at all of it.
_SAMPLE = 8_192
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_XML_DECLARATION = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")


@lru_cache(maxsize=256)
def known(label: str) -> str | None:
    """The charset that a label means to browsers, or None for one that they don't decode."""
    try:
        name = turbohtml.parse(b"", encoding=label).encoding
    except (LookupError, ValueError):
        return None
    return None if name is None or name == "replacement" else name.lower()


def parse_html(body: bytes, charset: str | None) -> turbohtml.Document:
    """The document in these bytes, by their mark, the given charset, what they declare, or a guess."""
    document = shadow.parse(body, charset)
    if document.encoding == "UTF-8":
        return document
    if body.isascii() and b"\0" not in body and b"\x1b" not in body:
        # Whatever it is called, it reads the same; even what browsers refuse to read under that name.
        return document if document.encoding != "replacement" else shadow.parse(body.decode())
    if document.encoding_confidence == "certain":
        return document
    guess = known(_guess(body))
    return document if guess in (None, "windows-1252") else shadow.parse(body, guess)


def decode(body: bytes, charset: str | None) -> str:
    """The text in these bytes, whatever they are; what can't be decoded becomes U+FFFD."""
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body.decode(codec, "replace").removeprefix("\ufeff")
    if charset is not None:
        return _decode(body, charset)
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return _decode(body, _guess(body))


def declared_in_xml(body: bytes) -> str | None:
    """The charset that an XML declaration names."""
    found = _XML_DECLARATION.match(body)
    return known(found[1].decode("ascii")) if found else None


def other_in_xml(body: bytes) -> str | None:
    """The charset to read XML in that declares another than UTF-8; UTF-8 after all where it can't be the declared one."""
    if not _XML_DECLARATION.match(body) or (declared := declared_in_xml(body)) == "utf-8":
        return None
    # A declaration that can be read byte by byte is not in UTF-16, whatever it says.
    return "utf-8" if declared is None or declared.startswith("utf-16") else declared


def decode_xml(pieces: Iterable[bytes], charset: str) -> Iterator[str]:
    """The text in these pieces of XML; what can't be decoded becomes U+FFFD."""
    rest = b""
    for piece in pieces:
        # This byte is part of no longer character in any charset that tags can be written in. Without one in all the
        # piece, a character may be cut in two: better than to keep what never ends.
        end = piece.rfind(b">") + 1 or len(piece)
        yield _decode(rest + piece[:end], charset)
        rest = piece[end:]
    yield _decode(rest, charset)


def _decode(body: bytes, charset: str) -> str:
    # Browsers' charsets differ from Python's of the same name; this module registers theirs.
    import turbohtml.detect  # noqa: F401

    try:
        return body.decode(f"whatwg-{charset}", "replace")
    except (LookupError, ValueError):
        return body.decode("utf-8", "replace")


def _guess(body: bytes) -> str:
    from turbohtml.detect import detect

    first = _NOT_ASCII.search(body)
    start = max(0, first.start() - 256) if first else 0
    return detect(body[start : start + _SAMPLE]).encoding or "windows-1252"
