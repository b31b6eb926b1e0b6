"""What is in one page: its basic record, the fields that were asked for, and where it leads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Self, cast

import orjson
import turbohtml

from tarantella.domain.spec import Field, Spec
from tarantella.extractors import charset, fields
from tarantella.extractors.document import Document, Kind, identify
from tarantella.extractors.errors import ExtractionFailed, NotADocument

MAX_TITLE = 1_000
MAX_DESCRIPTION = 5_000
MAX_LANGUAGE = 35
MAX_JSON = 1_000_000

_HEAD = (
    'title, base[href], link[rel~="canonical" i][href], meta[name="description" i], meta[name="robots" i], '
    'meta[property="og:title" i], meta[property="og:description" i], meta[http-equiv="content-language" i]'
)
# Blanks become one byte and everything else another, so that counting where words begin is one fast search.
_BLANKS = bytes(0x20 if bytes([byte]).isspace() else 0x78 for byte in range(256))


@dataclass(frozen=True, slots=True)
class Wants:
    """What a run wants from each of its pages; made once, when the run is submitted or taken up."""

    text: str = "fast"
    fields: tuple[Field, ...] = ()
    links: bool = True

    @classmethod
    def of(cls, spec: Spec) -> Self:
        """Raises InvalidInput where a field's selector is not CSS."""
        fields.validate(spec.fields)
        return cls(text=spec.text, fields=spec.fields)


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was in a page. `hrefs` are as written, each once; they are empty where the page asks not to be followed."""

    data: dict[str, Any]
    hrefs: Collection[str] = ()
    base: str | None = None
    canonical: str | None = None
    meta_refresh: tuple[float, str] | None = None
    noindex: bool = False


def extract(body: bytes, content_type: str, wants: Wants, page_url: str = "") -> Extracted:
    """Read a response. Raises NotADocument or ExtractionFailed, and nothing else.

    With `page_url` the canonical address, a refresh and the fields' addresses come out absolute; without, as written.
    """
    try:
        document = identify(body, content_type)
        return _READERS[document.kind](document, wants, page_url)
    except (NotADocument, ExtractionFailed):
        raise
    except Exception as error:
        raise ExtractionFailed(f"The page could not be read: {type(error).__name__}: {error}"[:500]) from error


def _read_html(document: Document, wants: Wants, page_url: str) -> Extracted:
    html = charset.parse_html(document.body, document.charset)
    head = _Head.of(html)
    found = cast("list[str]", html.xpath("//a/@href"))
    if html.find("area") is not None:
        found += cast("list[str]", html.xpath("//area/@href"))
    hrefs = dict.fromkeys(found)

    def base_url() -> str:
        return html.base_url(page_url) if page_url else ""

    return Extracted(
        data=_record(
            wants,
            title=head.title,
            description=head.description,
            language=_language(html, head),
            text=_main_text(html) if wants.text != "none" else None,
            links=len(hrefs),
            fields_from=html,
            base_url=base_url,
        ),
        hrefs=hrefs if wants.links and not head.nofollow else (),
        base=head.base,
        canonical=fields.absolute(base_url(), head.canonical) if head.canonical else None,
        meta_refresh=_refresh(html, page_url),
        noindex=head.noindex,
    )


def _read_xml(document: Document, wants: Wants, page_url: str) -> Extracted:
    text = charset.decode(document.body, document.charset or charset.declared_in_xml(document.body))
    try:
        xml = turbohtml.parse_xml(text)
    except turbohtml.HTMLParseError:
        # Many feeds are not well-formed; the forgiving parser still finds what is in them.
        xml = turbohtml.parse(text, positions=False)
    feed = xml.feed()
    hrefs = dict.fromkeys(entry.link for entry in feed.entries if entry.link) if feed else {}
    return Extracted(
        data=_record(
            wants,
            title=feed.title if feed else None,
            description=feed.description if feed else None,
            text=" ".join(xml.text.split()) if wants.text != "none" else None,
            links=len(hrefs),
            fields_from=xml,
            base_url=lambda: page_url,
        ),
        hrefs=hrefs if wants.links else (),
    )


def _read_json(document: Document, wants: Wants, page_url: str) -> Extracted:
    data = _record(wants)
    data["data"] = _json(document) if len(document.body) <= MAX_JSON else None
    return Extracted(data)


def _read_text(document: Document, wants: Wants, page_url: str) -> Extracted:
    return Extracted(_record(wants, text=charset.decode(document.body, document.charset)))


def _read_pdf(document: Document, wants: Wants, page_url: str) -> Extracted:
    return Extracted(_record(wants))


_READERS: Mapping[Kind, Callable[[Document, Wants, str], Extracted]] = {
    Kind.HTML: _read_html,
    Kind.XML: _read_xml,
    Kind.JSON: _read_json,
    Kind.TEXT: _read_text,
    Kind.PDF: _read_pdf,
}


def _record(
    wants: Wants,
    *,
    title: str | None = None,
    description: str | None = None,
    language: str | None = None,
    text: str | None = None,
    links: int = 0,
    fields_from: turbohtml.Document | None = None,
    base_url: Callable[[], str] = str,
) -> dict[str, Any]:
    """The same keys in the same order for whatever kind of document, so that exports have stable columns."""
    data: dict[str, Any] = {
        "title": _line(title, MAX_TITLE),
        "description": _line(description, MAX_DESCRIPTION),
        "language": _line(language, MAX_LANGUAGE),
    }
    if wants.text != "none":
        data["text"] = text.replace("\0", "") if text and "\0" in text else text
        data["word_count"] = _words(text) if text else 0
    data["links"] = links
    if wants.fields:
        data["fields"] = {
            field.name: fields.select(fields_from, field, base_url) if fields_from is not None else None
            for field in wants.fields
        }
    return data


@dataclass(slots=True)
class _Head:
    """What a page says about itself."""

    title: str | None = None
    description: str | None = None
    language: str | None = None
    base: str | None = None
    canonical: str | None = None
    nofollow: bool = False
    noindex: bool = False

    @classmethod
    def of(cls, html: turbohtml.Document) -> Self:
        place = html.find("head")
        found = place.select(_HEAD) if place is not None else []
        if not any(element.tag == "title" for element in found):
            # Broken pages have their title in the body: then the rest of the head may be there as well.
            found = html.select(_HEAD)
        return cls._from(found)

    @classmethod
    def _from(cls, found: Iterable[turbohtml.Element]) -> Self:
        head = cls()
        og_title = og_description = None
        for element in found:
            tag = element.tag
            if tag == "title":
                # Drawings have titles too, which are not the page's.
                if head.title is None and element.namespace is turbohtml.Namespace.HTML:
                    head.title = element.text
            elif tag == "base":
                head.base = element.attr("href") if head.base is None else head.base
            elif tag == "link":
                head.canonical = element.attr("href") if head.canonical is None else head.canonical
            elif content := element.attr("content"):
                name = (element.attr("name") or element.attr("property") or "").lower()
                if name == "description":
                    head.description = head.description or content
                elif name == "robots":
                    head._obey(content)
                elif name == "og:title":
                    og_title = og_title or content
                elif name == "og:description":
                    og_description = og_description or content
                else:
                    head.language = head.language or content
        head.title = head.title or og_title
        head.description = head.description or og_description
        return head

    def _obey(self, content: str) -> None:
        rules = {rule.strip() for rule in content.lower().split(",")}
        self.nofollow = self.nofollow or not rules.isdisjoint({"nofollow", "none"})
        self.noindex = self.noindex or not rules.isdisjoint({"noindex", "none"})


def _language(html: turbohtml.Document, head: _Head) -> str | None:
    root = html.root
    said = (root.attr("lang") or root.attr("xml:lang")) if root is not None else None
    return said or head.language


def _main_text(html: turbohtml.Document) -> str:
    """The text people come for; on a page where nothing stands out, all of it."""
    text = html.main_text()
    if not text and (body := html.find("body")) is not None:
        text = body.to_text()
    return text.strip()


def _refresh(html: turbohtml.Document, page_url: str) -> tuple[float, str] | None:
    found = html.meta_refresh(page_url)
    # Without an address it only reloads the page.
    if found is None or not isfinite(found[0]) or found[1] in ("", page_url):
        return None
    return found


def _line(text: str | None, limit: int) -> str | None:
    """One line of at most so many characters, or None where nothing is left."""
    if not text:
        return None
    return " ".join(text[: 4 * limit].replace("\0", "").split())[:limit] or None


def _words(text: str) -> int:
    marked = text.encode("utf-8", "replace").translate(_BLANKS)
    return marked.count(b" x") + marked.startswith(b"x")


def _json(document: Document) -> Any:
    text = charset.decode(document.body, document.charset)
    try:
        data = orjson.loads(text)
    except ValueError:
        return None
    return _without_nul(data) if "\\u0000" in text else data


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, list):
        return [_without_nul(item) for item in value]
    if isinstance(value, dict):
        return {_without_nul(key): _without_nul(item) for key, item in value.items()}
    return value
