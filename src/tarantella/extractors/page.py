"""What is in one page: its basic record, the fields that were asked for, and where it leads."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, cast

import turbohtml

from tarantella.domain.coverage import MISSING
from tarantella.domain.outcome import NOTHING_LACKING
from tarantella.domain.spec import Field, Spec
from tarantella.domain.struct import Frozen, Struct, replace
from tarantella.extractors import charset, data, fields
from tarantella.extractors.challenge import find_challenge
from tarantella.extractors.document import Document, Kind, identify
from tarantella.extractors.errors import ExtractionFailed, NotADocument
from tarantella.extractors.head import Head
from tarantella.extractors.shell import find_shell
from tarantella.extractors.subject import Subject
from tarantella.extractors.text import count_words, main_text, one_line, without_nul

if TYPE_CHECKING:
    from tarantella.extractors.recorded import Recorded, Replayed

__all__ = ["Extracted", "ExtractionFailed", "NotADocument", "Wants", "extract"]

MAX_TITLE = 1_000
MAX_DESCRIPTION = 5_000
MAX_LANGUAGE = 35
_HREFS = turbohtml.XPath("//a/@href", smart_strings=False)
_HREFS_AND_AREAS = turbohtml.XPath("//a/@href | //area/@href", smart_strings=False)  # takes twice as long
_REFRESH_URL = re.compile(r"""url\s*=\s*["']?([^"'\s]+)""", re.IGNORECASE)
MAX_ITEMS = 5_000  # records of one list page
_MISSING_ONCE: Mapping[str, int] = MappingProxyType({MISSING: 1})


class Wants(Frozen):
    """What a run wants from each of its pages; made once, when the run is submitted or taken up."""

    text: str = "fast"
    fields: tuple[Field, ...] = ()
    links: bool = True
    sitemap: bool = False  # only the addresses that it lists
    item: Field | None = None
    pagination: Field | None = None
    short: bool = True  # fields that are nothing but CSS
    aside: bool = False  # could take long: not to be read where others wait
    recorded: Recorded | None = None  # the answer to a recorded question, instead of a page

    @classmethod
    def of(cls, spec: Spec) -> Self:
        """Raises InvalidInput where a field's selector can't be understood."""
        places = tuple(place for place in (spec.item, spec.pagination) if place is not None)
        fields.validate((*spec.fields, *places))
        return cls(
            text=spec.text,
            fields=spec.fields,
            item=spec.item,
            pagination=spec.pagination,
            short=spec.item is None and all(map(fields.is_short, spec.fields)),
            aside=spec.text == "article" or spec.item is not None or fields.takes_time((*spec.fields, *places)),
        )

    def to_json(self) -> dict[str, Any]:
        """For another process."""
        places = {
            name: place.to_json() for name in ("item", "pagination") if (place := getattr(self, name)) is not None
        }
        flags = {name: getattr(self, name) for name in ("text", "links", "sitemap", "short", "aside")}
        recorded = {"recorded": self.recorded.to_json()} if self.recorded is not None else {}
        return {**flags, **places, **recorded, "fields": [wanted.to_json() for wanted in self.fields]}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        places: dict[str, Any] = {
            name: Field.from_json(values[name]) for name in ("item", "pagination") if name in values
        }
        if "recorded" in values:
            from tarantella.extractors.recorded import Recorded

            places["recorded"] = Recorded.from_json(values["recorded"])
        return cls(**{**values, **places, "fields": tuple(Field.from_json(wanted) for wanted in values["fields"])})

    def hurried(self) -> Wants:
        """The same without all that could take long."""
        quick = tuple(wanted for wanted in self.fields if not fields.takes_time((wanted,)))
        text = "fast" if self.text == "article" else self.text
        place = self.pagination if self.pagination is None or not fields.takes_time((self.pagination,)) else None
        return replace(
            self,
            text=text,
            fields=() if self.item else quick,
            item=None,
            pagination=place,
            short=False,
            aside=False,
            recorded=None,
        )


class Extracted(Struct, frozen=True):
    """What was in a page. `hrefs` are as written, each once."""

    data: dict[str, Any]
    hrefs: Collection[str] = ()
    base: str | None = None
    nofollow: bool = False  # the page asks crawlers not to follow its links
    cut: bool = False  # only its beginning was read
    challenge: str | None = None  # what gives the page away as one that stands in the way of the real one
    items: Sequence[dict[str, Any]] | None = (
        None  # what the records of a list page have; None where the page is the record
    )
    following: Collection[str] = ()  # where the next pages of a list are
    lacking: Mapping[str, Mapping[str, int]] = NOTHING_LACKING  # records without a field: missing or unfit
    shell: str | None = None  # what gives the page away as one that scripts would fill
    replayed: Replayed | None = None  # how the answer to a recorded question fits its recording

    def records(self) -> Iterator[dict[str, Any]]:
        """What the records of the page have: one of the page, or one of each item of a list."""
        if self.items is None:
            yield self.data
            return
        # The text is the whole list's: not what one item says.
        shared = {name: value for name, value in self.data.items() if name not in _OF_THE_PAGE}
        for number, item in enumerate(self.items, 1):
            yield {**shared, "item": number, **item}


_OF_THE_PAGE = frozenset(
    {"text", "word_count", "author", "published", "markdown", "data", "fields", "sources", "problems"}
)


def extract(body: bytes, content_type: str, wants: Wants, page_url: str = "") -> Extracted:
    """Read a response. Raises NotADocument or ExtractionFailed, and nothing else.

    With `page_url` a refresh and addresses in fields come out absolute; without it
    they are as written, and so is `base` always.
    """
    try:
        if wants.recorded is not None:
            return _read_recorded(body, wants, wants.recorded, page_url)
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
    text = main_text(html) if wants.text == "fast" else None
    record = _basic(wants, head.title, head.description, head.language, text, len(hrefs))
    if head.refreshes and (leads_to := _refresh(html, page_url)) is not None:
        # It leads on by itself, which for us is a link like any other.
        hrefs[leads_to] = None
    lacking = NOTHING_LACKING
    items: list[dict[str, Any]] | None = None
    following: Collection[str] = ()
    if wants.fields and wants.short and wants.pagination is None:
        lacking = _with_short_fields(record, wants, html, lambda: _base_url(html, page_url))
    words = record.get("word_count", 0)
    challenge = find_challenge(html, document.body, head.title, len(hrefs), words)
    shell = find_shell(html, len(hrefs), words, refreshes=head.refreshes)
    if wants.aside or not wants.short or wants.pagination is not None:
        subject = Subject(
            html,
            source=lambda: charset.decode(document.body, document.charset or html.encoding),
            base_url=lambda: _base_url(html, page_url),
            page_url=page_url,
            language=head.language,
        )
        if not wants.short or wants.pagination is not None:
            lacking, items, following = _with_fields(record, wants, subject)
        if wants.text == "article":
            _with_article(record, subject)
    return Extracted(
        record,
        hrefs if wants.links else (),
        head.base,
        head.nofollow,
        document.cut,
        challenge,
        items,
        following,
        lacking,
        None if shell is not None and _has_what_was_asked_for(record, wants, lacking, items) else shell,
    )


# What a shell says of itself in its head, before there is a page.
_IN_ANY_HEAD = frozenset({"title", "name", "description", "image", "url", "language", "site", "tags"})


def _has_what_was_asked_for(
    record: Mapping[str, Any],
    wants: Wants,
    lacking: Mapping[str, Mapping[str, int]],
    items: Sequence[dict[str, Any]] | None,
) -> bool:
    """Whether a page that looks empty is not, for this run: its data may stand in a script."""
    if items is not None:
        return bool(items)
    if not wants.fields or lacking:
        return False
    found = record["fields"]
    return any(found.get(each.name) for each in wants.fields if not (each.is_plain and each.name in _IN_ANY_HEAD))


def _base_url(html: turbohtml.Document, page_url: str) -> str:
    """Where the relative addresses of a page start from; nothing where its own is unknown."""
    return html.base_url(page_url) if page_url else ""


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
    subject = Subject(xml, source=lambda: text, base_url=lambda: page_url, page_url=page_url)
    lacking, items, following = _with_fields(record, wants, subject)
    return Extracted(
        record, hrefs if wants.links else (), cut=document.cut, items=items, following=following, lacking=lacking
    )


def _read_json(document: Document, wants: Wants, page_url: str) -> Extracted:
    record = _basic(wants)
    small = len(document.body) <= data.MAX_BYTES
    text = charset.decode(document.body, document.charset) if small or wants.fields else ""
    value = data.read_json(text) if text else None
    subject = Subject(None, source=lambda: text, base_url=lambda: page_url, page_url=page_url, data=value)
    lacking, items, following = _with_fields(record, wants, subject)
    record["data"] = value if small else None
    return Extracted(record, items=items, following=following, lacking=lacking)


def _read_recorded(body: bytes, wants: Wants, recorded: Recorded, page_url: str) -> Extracted:
    from tarantella.extractors.recorded import answer_of, lacking_in, read_recorded, replayed, with_defaults

    record = _basic(wants)
    answer = answer_of(body)
    if recorded.reading.own and answer is not None:
        subject = Subject(None, source=str, base_url=lambda: page_url, page_url=page_url, data=answer)
        lacking, items, _ = _with_fields(record, wants, subject)
        values = [each["fields"] for each in (items if items is not None else [record])]
        return Extracted(record, items=items, lacking=lacking, replayed=replayed(answer, recorded, values))
    found, how = read_recorded(answer, recorded, wants.fields)
    record |= {name: value for name, value in recorded.reading.about.items() if name in record}
    lacking = lacking_in(found.records, wants.fields)
    items = [{"fields": with_defaults(each, wants.fields)} for each in found.records]
    if recorded.reading.items is None and items:
        record |= items[0]
        return Extracted(record, lacking=lacking, replayed=how)
    return Extracted(record, items=items, cut=found.cut, lacking=lacking, replayed=how)


def _read_text(document: Document, wants: Wants, page_url: str) -> Extracted:
    text = charset.decode(document.body, document.charset) if wants.text != "none" or wants.fields else ""
    record = _basic(wants, text=text)
    subject = Subject(None, source=lambda: text, base_url=lambda: page_url, page_url=page_url)
    lacking, items, _ = _with_fields(record, wants, subject)
    return Extracted(record, cut=document.cut, items=items, lacking=lacking)


def _read_pdf(_: Document, wants: Wants, page_url: str) -> Extracted:
    record = _basic(wants)
    lacking, items, _following = _with_fields(record, wants, Subject(None, source=str, page_url=page_url))
    return Extracted(record, items=items, lacking=lacking)


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


def _with_short_fields(
    record: dict[str, Any], wants: Wants, tree: turbohtml.Document, base_url: Callable[[], str]
) -> Mapping[str, Mapping[str, int]]:
    values = record["fields"] = {field.name: fields.select(tree, field, base_url) for field in wants.fields}
    if None not in values.values():
        return NOTHING_LACKING
    lacking = {name: _MISSING_ONCE for name, value in values.items() if value is None}
    for field in wants.fields:
        if field.default is not None and field.name in lacking:
            values[field.name] = field.default
    return lacking


def _with_fields(
    record: dict[str, Any], wants: Wants, subject: Subject
) -> tuple[Mapping[str, Mapping[str, int]], list[dict[str, Any]] | None, Collection[str]]:
    """Add what was asked for to the record. What is lacking, the items of a list, and where its next pages are."""
    following = dict.fromkeys(fields.addresses(subject, wants.pagination)) if wants.pagination is not None else ()
    if not wants.fields:
        return NOTHING_LACKING, None, following
    if wants.item is None:
        found = [fields.find_fields(subject, wants.fields)]
        record.update(found[0].record())
        items = None
    else:
        roots = fields.items(subject, wants.item)[:MAX_ITEMS]
        found = [fields.find_fields(subject, wants.fields, root) for root in roots]
        items = [each.record() for each in found]
    lacking: dict[str, dict[str, int]] = {}
    for each in found:
        for name, kind in each.lacking.items():
            counts = lacking.setdefault(name, {})
            counts[kind] = counts.get(kind, 0) + 1
    return lacking, items, following


def _with_article(record: dict[str, Any], subject: Subject) -> None:
    """Add who wrote the article on a page and when, and its text: last, because the page is taken apart for it."""
    about = fields.find_fields(subject, _ABOUT_ARTICLES)
    article = subject.last_article()
    text = without_nul(article.text)
    record["text"] = text
    record["word_count"] = count_words(text)
    record.update(about.values)
    record["markdown"] = without_nul(article.markdown)
    record["sources"] = {**record.get("sources", {}), **about.sources, "text": f"article, {article.by}"}


_ABOUT_ARTICLES = (Field("author"), Field("published"))


def _hrefs(html: turbohtml.Document) -> dict[str, None]:
    """Every address a reader could click on, in order, once."""
    find = _HREFS if html.find("area") is None else _HREFS_AND_AREAS
    # It selects attributes, and those are strings.
    return dict.fromkeys(cast("list[str]", find(html)))


def _refresh(html: turbohtml.Document, page_url: str) -> str | None:
    """Where the page leads by itself after a while."""
    try:
        written = html.meta_refresh("")
        # Without an address it only reloads the page.
        if written is None or not isfinite(written[0]) or not written[1]:
            return None
        found = html.meta_refresh(_base_url(html, page_url))
    except ValueError:
        # No address, which is found out where links are looked at.
        return _written_refresh(html)
    return found[1] if found is not None and found[1] != page_url else None


def _written_refresh(html: turbohtml.Document) -> str | None:
    contents = (meta.attr("content") or "" for meta in html.select('meta[http-equiv="refresh" i]'))
    return next((found[1] for content in contents if (found := _REFRESH_URL.search(content))), None)
