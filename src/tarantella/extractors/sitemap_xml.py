"""The addresses in the XML of a sitemap or a feed.

No entity is ever expanded: a reference that XML does not know by itself is text, and a DTD is passed over. The parser keeps
an unfinished tag, every open tag, every name that it has met and what a DTD declares, so each of these has a bound.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from xml.parsers import expat

from tarantella.domain.url import MAX_LENGTH

LONGEST_TAG = 1024 * 1024
DEEPEST_TAG = 32
MOST_NAMES = 5_000
LONGEST_DTD = 256 * 1024
MOST_AMPERSANDS = 500_000  # that stand for nothing: each makes the text longer

# An ampersand that begins nothing that XML knows by itself: a declared entity, or somebody forgot to escape it.
_BARE_AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)")
_LONGEST_REFERENCE = 10
# XML forbids these, and many programs that write it don't know that.
_CONTROLS = bytes(code for code in range(0x20) if code not in b"\t\n\r")
_FORMS: Mapping[str, str] = {"urlset": "sitemap", "sitemapindex": "index", "rss": "feed", "rdf": "feed", "feed": "feed"}
_HOLD_AN_ADDRESS = frozenset({("url", "loc"), ("sitemap", "loc"), ("item", "link"), ("entry", "link")})


class BrokenXml(Exception):
    """Reading ends here; the message says why."""


class XmlReader:
    """Is fed pieces in UTF-8, and collects addresses by the names of elements, whatever namespace they are in."""

    def __init__(self) -> None:
        self.form: str | None = None
        self.urls: list[str] = []
        self.sitemaps: list[str] = []
        self.remark: str | None = None
        self._open: list[str] = []
        self._text: list[str] | None = None  # of the element that holds an address, while it is open
        self._room = 0
        self._in_cdata = False
        self._dtd_began: int | None = None
        self._rest = b""
        self._fed = 0
        self._ampersands = 0
        # What it declares is not asked: the parser can't read every charset, and raises for some.
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartCdataSectionHandler = self._cdata_begins
        parser.EndCdataSectionHandler = self._cdata_ends
        parser.StartDoctypeDeclHandler = self._dtd_begins
        parser.EndDoctypeDeclHandler = self._dtd_ends
        parser.EntityDeclHandler = self._entity_declared

    def feed(self, piece: bytes) -> None:
        piece = self._rest + piece.translate(None, _CONTROLS)
        # A reference may continue in the next piece.
        cut = piece.rfind(b"&", -_LONGEST_REFERENCE)
        if cut >= 0 and b";" not in piece[cut:]:
            piece, self._rest = piece[:cut], piece[cut:]
        else:
            self._rest = b""
        self._parse(piece)
        if self._fed - self._parser.CurrentByteIndex > LONGEST_TAG:
            raise BrokenXml(f"it has a tag of more than {LONGEST_TAG:,} bytes")
        if self._dtd_began is not None and self._fed - self._dtd_began > LONGEST_DTD:
            raise BrokenXml(f"it has a DTD of more than {LONGEST_DTD:,} bytes")
        if len(self._parser.intern) > MOST_NAMES:
            raise BrokenXml(f"it has more than {MOST_NAMES:,} names of elements and attributes")

    def end(self) -> None:
        self._parse(self._rest, last=True)

    def _parse(self, piece: bytes, *, last: bool = False) -> None:
        if b"&" in piece:
            piece, bare = _BARE_AMPERSAND.subn(b"&amp;", piece)
            self._ampersands += bare
            if self._ampersands > MOST_AMPERSANDS:
                raise BrokenXml(f"it has more than {MOST_AMPERSANDS:,} ampersands that stand for nothing")
        self._fed += len(piece)
        try:
            self._parser.Parse(piece, last)
        except expat.ExpatError as error:
            raise BrokenXml(f"it is broken: {error}") from None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = _local(name)
        if not self._open:
            self.form = _FORMS.get(name)
            if self.form is None:
                raise BrokenXml(f"it is not a sitemap but <{name[:40]}>")
        elif (self._open[-1], name) in _HOLD_AN_ADDRESS:
            self._hold(attributes)
        if len(self._open) >= DEEPEST_TAG:
            raise BrokenXml(f"its tags are nested more than {DEEPEST_TAG} deep")
        self._open.append(name)

    def _hold(self, attributes: dict[str, str]) -> None:
        href = attributes.get("href")
        if href is None:
            self._text, self._room = [], MAX_LENGTH + 1
        elif attributes.get("rel", "alternate") == "alternate":
            self._found(href)

    def _characters(self, text: str) -> None:
        if self._text is not None and self._room > 0:
            # What was escaped here because it looked forgotten is literal in CDATA.
            self._text.append(text[: self._room].replace("&amp;", "&") if self._in_cdata else text[: self._room])
            self._room -= len(text)

    def _end(self, name: str) -> None:
        self._open.pop()
        if self._text is not None and (self._open[-1], _local(name)) in _HOLD_AN_ADDRESS:
            text, self._text = "".join(self._text), None
            self._found(text)

    def _found(self, text: str) -> None:
        if text := text.strip():
            (self.sitemaps if self._open[-1] == "sitemap" else self.urls).append(text)

    def _cdata_begins(self) -> None:
        self._in_cdata = True

    def _cdata_ends(self) -> None:
        self._in_cdata = False

    def _dtd_begins(self, *_: object) -> None:
        self._dtd_began = self._parser.CurrentByteIndex

    def _dtd_ends(self) -> None:
        self._dtd_began = None

    def _entity_declared(self, *_: object) -> None:
        self.remark = "it declares entities, which are not expanded"


@lru_cache(maxsize=1_024)
def _local(name: str) -> str:
    return name.rpartition(":")[2].lower()
