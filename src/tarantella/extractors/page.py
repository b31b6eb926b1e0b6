"""What is in one page: its basic record, the fields that were asked for, and where it leads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple, Self, cast

import turbohtml

from tarantella.domain.spec import Field, Spec
from tarantella.extractors import charset, data, fields
from tarantella.extractors.challenge import find_challenge
from tarantella.extractors.document import Document, Kind, identify
from tarantella.extractors.errors import ExtractionFailed, NotADocument
from tarantella.extractors.head import Head
from tarantella.extractors.text import count_words, main_text, one_line, without_nul

__all__ = ["Extracted", "ExtractionFailed", "NotADocument", "Wants", "extract"]

MAX_TITLE = 1_000
MAX_DESCRIPTION = 5_000
MAX_LANGUAGE = 35
_HREFS = turbohtml.XPath("//a/@href | //area/@href", smart_strings=False)


@dataclass(frozen=True, slots=True)
class Wants:
    """What a run wants from each of its pages; made once, when the run is submitted or taken up."""

    text: str = "fast"
    fields: tuple[Field, ...] = ()
    links: bool = True
    sitemap: bool = False  # only the addresses that it lists

    @classmethod
    def of(cls, spec: Spec) -> Self:
        """Raises InvalidInput where a field's selector is not CSS."""
        fields.validate(spec.fields)
        return cls(text=spec.text, fields=spec.fields)


class Extracted(NamedTuple):
    """What was in a page. `hrefs` are as written, each once; none where the page asks not to be followed."""

    data: dict[str, Any]
    hrefs: Collection[str] = ()
    base: str | None = None
    canonical: str | None = None
    meta_refresh: tuple[float, str] | None = None
    noindex: bool = False
    cut: bool = False  # only its beginning was read
    challenge: str | None = None  # what gives the page away as one that stands in the way of the real one


def extract(body: bytes, content_type: str, wants: Wants, page_url: str = "") -> Extracted:
    """Read a response. Raises NotADocument or ExtractionFailed, and nothing else.

    With `page_url` the canonical address, a refresh and addresses in fields come out absolute; without it
    they are as written, and so is `base` always.
    """
    try:
        document = identify(body, content_type)
        return _READERS[document.kind](document, wants, page_url)
    except NotADocument:
        raise
    except Exception as error:
        problem = f"The page could not be read: {type(error).__name__}: {error}"
        raise ExtractionFailed(problem[:500]) from error


def _read_html(document: Document, wants: Wants, page_url: str) -> Extracted:
    html = charset.parse_html(document.body, document.charset)
    head = Head.of(html)
    hrefs = _hrefs(html)
    text = main_text(html) if wants.text != "none" else None
    record = _basic(wants, head.title, head.description, head.language, text, len(hrefs))
    refresh = _refresh(html, page_url) if head.refreshes else None
    if refresh is not None:
        # It leads on by itself, which for us is a link like any other.
        hrefs[refresh[1]] = None
    canonical = head.canonical
    if wants.fields or canonical:
        base_url = html.base_url(page_url) if page_url else ""
        record = _with_fields(record, wants, html, base_url)
        canonical = fields.absolute(base_url, canonical) if canonical else None
    return Extracted(
        record,
        hrefs if wants.links and not head.nofollow else (),
        head.base,
        canonical,
        refresh,
        head.noindex,
        document.cut,
        find_challenge(html, document.body, head.title, len(hrefs), record.get("word_count", 0)),
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
    record = _basic(
        wants,
        title=feed.title if feed else None,
        description=feed.description if feed else None,
        text=" ".join(xml.text.split()) if wants.text != "none" else None,
        links=len(hrefs),
    )
    record = _with_fields(record, wants, xml, page_url)
    return Extracted(record, hrefs if wants.links else (), cut=document.cut)


def _read_json(document: Document, wants: Wants, _: str) -> Extracted:
    record = _with_fields(_basic(wants), wants)
    small = len(document.body) <= data.MAX_BYTES
    record["data"] = data.read_json(charset.decode(document.body, document.charset)) if small else None
    return Extracted(record)


def _read_text(document: Document, wants: Wants, _: str) -> Extracted:
    text = charset.decode(document.body, document.charset) if wants.text != "none" else None
    return Extracted(_with_fields(_basic(wants, text=text), wants), cut=document.cut)


def _read_pdf(_: Document, wants: Wants, __: str) -> Extracted:
    return Extracted(_with_fields(_basic(wants), wants))


_READERS: Mapping[Kind, Callable[[Document, Wants, str], Extracted]] = {
    Kind.HTML: _read_html,
    Kind.XML: _read_xml,
    Kind.JSON: _read_json,
    Kind.TEXT: _read_text,
    Kind.PDF: _read_pdf,
}


def _basic(
    wants: Wants,
    title: str | None = None,
    description: str | None = None,
    language: str | None = None,
    text: str | None = None,
    links: int = 0,
) -> dict[str, Any]:
    """The same keys in the same order for every kind of document, so that exports have stable columns."""
    record: dict[str, Any] = {
        "title": one_line(title, MAX_TITLE),
        "description": one_line(description, MAX_DESCRIPTION),
        "language": one_line(language, MAX_LANGUAGE),
    }
    if wants.text != "none":
        record["text"] = without_nul(text) if text else text
        record["word_count"] = count_words(text) if text else 0
    record["links"] = links
    return record


def _with_fields(
    record: dict[str, Any],
    wants: Wants,
    tree: turbohtml.Document | None = None,
    base_url: str = "",
) -> dict[str, Any]:
    if wants.fields:
        record["fields"] = {
            field.name: fields.select(tree, field, base_url) if tree is not None else None for field in wants.fields
        }
    return record


def _hrefs(html: turbohtml.Document) -> dict[str, None]:
    """Every address a reader could click on, in order, once."""
    # It selects attributes, and those are strings.
    return dict.fromkeys(cast("list[str]", _HREFS(html)))


def _refresh(html: turbohtml.Document, page_url: str) -> tuple[float, str] | None:
    found = html.meta_refresh(page_url)
    # Without an address it only reloads the page.
    if found is None or not isfinite(found[0]) or found[1] in ("", page_url):
        return None
    return found
