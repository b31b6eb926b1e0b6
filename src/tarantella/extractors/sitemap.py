"""What a sitemap lists: XML of the sitemap protocol, an index of sitemaps, RSS, Atom, or an address a line; gzipped or not.

It is read piece by piece with bounds on everything that could grow, and where reading has to stop, what was found until
then counts. `lastmod`, `changefreq` and `priority` are not read: the order is that of the file.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

from tarantella.domain.url import MAX_LENGTH
from tarantella.extractors.sitemap_xml import BrokenXml, XmlReader
from tarantella.extractors.unpack import Damaged, Unpacked

MAX_BYTES = 50 * 1024 * 1024  # unpacked; what the protocol allows
MAX_ADDRESSES = 200_000  # the protocol allows 50,000, and some sites don't know that

_BLANKS = b" \t\r\n"
_UTF8_MARK = b"\xef\xbb\xbf"


class Listing(NamedTuple):
    """What was found in a sitemap; without a form it was none."""

    form: str | None
    urls: list[str]
    sitemaps: list[str]
    trouble: str | None = None  # why there may be more in it than was found

    @property
    def found(self) -> int:
        return len(self.urls) + len(self.sitemaps)


class _Enough(Exception):
    """Reading ends here; the message says why."""


def read_sitemap(body: bytes) -> Generator[None, None, Listing]:
    """Read a sitemap; it pauses after every piece, so that others can work in between."""
    reader: XmlReader | _LineReader | None = None
    trouble: str | None = None
    try:
        pieces = Unpacked(body, MAX_BYTES)
        for piece in pieces:
            if reader is None:
                piece = piece.removeprefix(_UTF8_MARK).lstrip(_BLANKS)
                if not piece:
                    continue
                reader = XmlReader() if piece.startswith(b"<") else _LineReader()
            reader.feed(piece)
            if len(reader.urls) + len(reader.sitemaps) > MAX_ADDRESSES:
                raise _Enough(f"it lists more than {MAX_ADDRESSES:,} addresses")
            yield
        if reader is None:
            raise _Enough("it is empty")
        reader.end()
    except (_Enough, BrokenXml, Damaged) as reason:
        trouble = str(reason)
    if reader is None:
        return Listing(None, [], [], trouble)
    urls = reader.urls[:MAX_ADDRESSES]
    return Listing(reader.form, urls, reader.sitemaps[: MAX_ADDRESSES - len(urls)], trouble or reader.remark)


class _LineReader:
    """An address a line."""

    def __init__(self) -> None:
        self.form: str | None = None
        self.urls: list[str] = []
        self.sitemaps: list[str] = []
        self.remark: str | None = None
        self._rest = b""

    def feed(self, piece: bytes) -> None:
        *lines, self._rest = (self._rest + piece).replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            self._read(line)
        # Of a line that is too long to be an address, the beginning is enough to tell.
        self._rest = self._rest[: MAX_LENGTH + 1]

    def end(self) -> None:
        self._read(self._rest)

    def _read(self, line: bytes) -> None:
        text = line[: MAX_LENGTH + 1].decode("utf-8", "replace").strip()
        if text.startswith("#") or not any(character.isprintable() and character != " " for character in text):
            return
        if self.form is None and not text.lower().startswith(("http://", "https://")):
            raise _Enough("it is neither XML nor a list of addresses")
        self.form = "text"
        self.urls.append(text)
