"""What a response is: by the type it claims, and by its bytes where they tell otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache

from tarantella.domain.struct import Struct
from tarantella.extractors import charset as charsets
from tarantella.extractors.errors import NotADocument
from tarantella.extractors.excerpt import MOST_MARKS, excerpt


class Kind(StrEnum):
    HTML = "html"
    XML = "xml"
    JSON = "json"
    TEXT = "text"
    PDF = "pdf"


class MediaType(Struct, frozen=True):
    """What a Content-Type header says; a document without a kind must be told by its bytes."""

    name: str
    kind: Kind | None
    is_document: bool
    charset: str | None
    is_xml: bool


_KINDS: Mapping[str, Kind] = {
    "text/html": Kind.HTML,
    "application/xhtml+xml": Kind.HTML,
    "application/json": Kind.JSON,
    "text/json": Kind.JSON,
    "application/xml": Kind.XML,
    "text/xml": Kind.XML,
    "application/pdf": Kind.PDF,
    "application/x-pdf": Kind.PDF,
    "application/javascript": Kind.TEXT,
    "application/x-javascript": Kind.TEXT,
    "application/x-ndjson": Kind.TEXT,
    "application/jsonl": Kind.TEXT,
    "application/yaml": Kind.TEXT,
    "application/x-yaml": Kind.TEXT,
    "application/toml": Kind.TEXT,
}
_UNKNOWN = frozenset({"", "*/*", "unknown/unknown", "application/unknown"})
_PICTURES_AND_SOUNDS = ("image/", "video/", "audio/", "font/", "model/")
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"7z\xbc\xaf", "application/x-7z-compressed"),
    (b"Rar!\x1a", "application/vnd.rar"),
    (b"\xfd7zXZ", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"ID3\x03", "audio/mpeg"),
    (b"ID3\x04", "audio/mpeg"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
)
_FIRST_BYTES = tuple(signature for signature, _ in _SIGNATURES)
_LOOKED_AT = 1_024
_HTML = Kind.HTML  # looking up a member of an enumeration takes as long as the comparison it is for
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# In XML these may be closed where they open. To HTML they would be open, and all that follows them would be in them.
_CLOSED_AT_ONCE = re.compile(rb"<(script|style|title|textarea|iframe|noframes|noembed|xmp)\b([^<>]*)/>", re.IGNORECASE)


class Document(Struct, frozen=True):
    """A response that can be read: what it is and, if that is known, in which charset."""

    kind: Kind
    charset: str | None
    body: bytes
    cut: bool = False  # there is more than is read


def identify(body: bytes, content_type: str) -> Document:
    """What this response is. Raises NotADocument for what holds nothing to read."""
    claimed = media_type(content_type)
    if (
        claimed.kind is _HTML
        and not claimed.is_xml
        and body.startswith(b"<")
        and body.find(b"\0", 0, _LOOKED_AT) < 0
        and len(body) <= MOST_MARKS
    ):
        # Nearly every page is what it says, and begins like it.
        return Document(_HTML, claimed.charset and _charset(b"", claimed.charset), body)
    head = body[:_LOOKED_AT]
    if head.startswith(b"%PDF-"):
        return Document(Kind.PDF, None, body)
    if not claimed.is_document:
        raise NotADocument(claimed.name)
    if claimed.kind is Kind.PDF:
        return Document(Kind.PDF, None, body)
    if head.startswith(_FIRST_BYTES):
        raise NotADocument(next(name for signature, name in _SIGNATURES if head.startswith(signature)))
    charset = _charset(head, claimed.charset)
    read = excerpt(body)
    kind, cut = _kind(head, claimed.kind), len(read) < len(body)
    if kind is _HTML and claimed.is_xml:
        read = _CLOSED_AT_ONCE.sub(rb"<\1\2></\1>", read)
    return Document(kind, charset, read, cut)


def _charset(head: bytes, claimed: str | None) -> str | None:
    """The charset to trust. NUL bytes mean UTF-16 where something says so, and no text where nothing does."""
    is_utf16 = claimed is not None and claimed.startswith("utf-16")
    if b"\0" not in head:
        # Markup has ASCII characters, which in UTF-16 have a NUL each: without one the header is wrong.
        return None if is_utf16 else claimed
    if is_utf16 or head.startswith(_UTF16_MARKS):
        return claimed
    if head.startswith(b"<\0"):
        return "utf-16le"
    if head.startswith(b"\0<"):
        return "utf-16be"
    if head.lstrip().startswith(b"<") and head.count(b"\0") <= max(4, len(head) // 64):
        return claimed
    raise NotADocument("application/octet-stream")


def _kind(head: bytes, claimed: Kind | None) -> Kind:
    if claimed is Kind.XML and b"<html" in head.lower():
        return Kind.HTML
    if claimed is not None:
        return claimed
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<?xml") and b"<html" not in head.lower():
        return Kind.XML
    if start.startswith((b"{", b"[")):
        return Kind.JSON
    if start.startswith((b"<", b"\xff\xfe<", b"\xfe\xff\0<")) or b"<html" in head.lower():
        return Kind.HTML
    return Kind.TEXT


def media_type(header: str) -> MediaType:
    """What a Content-Type header says; never raises."""
    return _media_type(header[:256])


@lru_cache(maxsize=512)
def _media_type(header: str) -> MediaType:
    name, _, parameters = header.partition(";")
    # A header that was sent twice arrives joined by a comma.
    name = name.partition(",")[0].strip().lower()
    charset = None
    for parameter in parameters.split(";"):
        key, _, value = parameter.partition("=")
        if key.strip().lower() == "charset":
            charset = charsets.known(value.partition(",")[0].strip(" \t\"'"))
            break
    kind = _kind_of_type(name)
    is_document = kind is not None or name in _UNKNOWN or "/" not in name
    return MediaType(name, kind, is_document, charset, name.endswith(("+xml", "/xml")))


def _kind_of_type(name: str) -> Kind | None:
    if name in _KINDS:
        return _KINDS[name]
    if name.startswith(_PICTURES_AND_SOUNDS):
        return None
    if name.endswith("+json"):
        return Kind.JSON
    if name.endswith("+xml"):
        return Kind.XML
    return Kind.TEXT if name.startswith("text/") else None
