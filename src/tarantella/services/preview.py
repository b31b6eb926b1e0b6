"""Looks at one page: what each field gives, and selectors that would find what somebody sees there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tarantella.domain.errors import Overloaded, TarantellaError
from tarantella.domain.field import Field, FieldSet
from tarantella.domain.spec import Spec
from tarantella.domain.struct import Frozen, field, replace
from tarantella.domain.url import Url, redact, start_url
from tarantella.engine.served import options_of
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit
from tarantella.extractors import charset
from tarantella.extractors.document import Kind, identify
from tarantella.extractors.errors import NotADocument
from tarantella.extractors.page import Wants
from tarantella.extractors.subject import Subject
from tarantella.extractors.suggest import Suggestion, suggest
from tarantella.fetchers.contract import FetchError, Options, Request
from tarantella.fetchers.robots import RobotsUnreachable
from tarantella.services.app import App
from tarantella.services.runs import field_origins
from tarantella.services.specs import usual

# What is looked for on a page of which nobody has said what is wanted.
USUAL = (
    *(
        "title",
        "author",
        "published",
        "modified",
        "description",
        "image",
        "language",
        "tags",
        "category",
        "price",
        "currency",
    ),
    *("availability", "rating", "review_count", "sku", "brand", "site"),
)
MOST_SUGGESTED = 3
MOST_AT_ONCE = 4
_WHAT_IT_MAY_NEED = "Check the address, or what the site needs: a header, a proxy, a private network that is allowed."
MOST_VALUE = 300
LEAST_CONFIDENCE = 0.3


class PreviewFailed(TarantellaError):
    """The page could not be had, which is nobody's fault here."""

    code = "preview_failed"


class Preview(Frozen):
    """One page as a run would see it."""

    url: str
    status: int | None
    content_type: str
    record: dict[str, Any]
    fields: list[dict[str, Any]]  # name, value, where it came from, what was wrong
    suggestions: dict[str, list[Suggestion]]  # selectors for the fields that were found by name
    found: list[Suggestion] = field(default_factory=list)  # selectors for the example
    items: int | None = None  # of a list page
    following: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "status": self.status,
            "content_type": self.content_type,
            "record": self.record,
            "fields": self.fields,
            "suggestions": {name: [each.to_json() for each in found] for name, found in self.suggestions.items()},
            "found": [each.to_json() for each in self.found],
            "items": self.items,
            "pagination": list(self.following),
        }


async def preview(
    app: App, address: str, wanted: FieldSet, *, spec: Spec | None = None, example: str | None = None
) -> Preview:
    """Fetch one page and say what each field gives there. Nothing is stored.

    Without fields, those that most people want are looked for; `example` is a text on the page that a selector is
    wanted for. `spec` says how to fetch (networks, headers, proxy, text).
    """
    url = start_url(address)
    spec = replace(
        spec or Spec(**usual(app.settings), text="none"),
        fields=wanted.fields,
        item=wanted.item,
        pagination=wanted.pagination,
    )
    if not wanted.fields:
        spec = replace(spec, fields=tuple(map(Field, USUAL)), item=None)
    wants = Wants.of(spec)
    spec.check_secrets()
    with _room():
        tools = app.make_tools()
        try:
            visit = await _visit(tools, url, spec, wants)
        finally:
            await tools.close()
    assert visit.extracted is not None and visit.body is not None
    extracted = visit.extracted
    items = extracted.items
    record = {**extracted.data, **(items[0] if items else {})}
    origins = [each for one in (items[:20] if items is not None else [record]) for each in field_origins(one, spec)]
    if not wanted.fields:
        origins = [each for each in origins if each["value"] is not None]
    suggestions, found = await asyncio.to_thread(
        _suggestions, visit, spec.fields if items is None else (), record, example
    )
    return Preview(
        url=redact(visit.url),
        status=visit.status,
        content_type=visit.content_type,
        record=record,
        fields=origins,
        suggestions=suggestions,
        found=found,
        items=len(items) if items is not None else None,
        following=tuple(map(redact, extracted.following)),
    )


_looking = 0


@contextmanager
def _room() -> Iterator[None]:
    """Each look may start a process: a few at a time are enough for people."""
    global _looking
    if _looking >= MOST_AT_ONCE:
        raise Overloaded(f"{MOST_AT_ONCE} previews are being made.", remedy="Try again in a second.")
    _looking += 1
    try:
        yield
    finally:
        _looking -= 1


async def _visit(tools: Tools, url: Url, spec: Spec, wants: Wants) -> Visit:
    """The page behind all its redirects, each of which may be refused."""
    options = replace(options_of(spec), trusted_servers=frozenset({url.server}))
    hops = 0
    for _ in range(options.max_redirects + 1):
        if spec.obey_robots:
            await _ask_robots(tools, url, options)
        visit = await tools.visitors["http"].visit(Request(url, options, hops), wants, keep_body=True)
        if visit.failure is not None:
            raise PreviewFailed(
                f"{redact(visit.url)} can't be read: {visit.failure.value}, {redact(visit.detail or '')}.",
                remedy=_WHAT_IT_MAY_NEED,
            )
        if visit.not_a_document is not None:
            raise PreviewFailed(
                f"{redact(visit.url)} holds nothing to read: {visit.not_a_document}.", remedy="Choose a page."
            )
        if visit.redirect_to is None:
            return visit
        url, hops = visit.redirect_to, visit.hops
    raise PreviewFailed(f"{redact(url.href)} redirects without end.", remedy="Choose another address.")


async def _ask_robots(tools: Tools, url: Url, options: Options) -> None:
    try:
        rules = tools.robots.known(url) or await tools.robots.rules(url, options)
    except (FetchError, RobotsUnreachable) as error:
        raise PreviewFailed(
            f"{redact(url.href)} can't be read: {error.failure.value}, {redact(error.message)}.",
            remedy=_WHAT_IT_MAY_NEED,
        ) from None
    if not rules.allowed(url.href, options.user_agent):
        raise PreviewFailed(
            f"robots.txt asks crawlers to leave {redact(url.href)}.",
            remedy="`tarantella preview --ignore-robots` fetches it all the same.",
        )


def _suggestions(
    visit: Visit, wanted: tuple[Field, ...], record: dict[str, Any], example: str | None
) -> tuple[dict[str, list[Suggestion]], list[Suggestion]]:
    subject = _subject(visit)
    if subject is None:
        return {}, []
    values = record.get("fields") or {}
    found = {}
    for each in wanted:
        value = values.get(each.name)
        if each.is_plain and isinstance(value, (str, int, float)) and each.name not in ("text", "markdown", "language"):
            text = str(value) if not isinstance(value, float) or not value.is_integer() else str(int(value))
            chosen = [way for way in suggest(subject, text[:MOST_VALUE]) if way.confidence >= LEAST_CONFIDENCE]
            if chosen:
                found[each.name] = chosen[:MOST_SUGGESTED]
    return found, suggest(subject, example[:MOST_VALUE]) if example else []


def _subject(visit: Visit) -> Subject | None:
    """The page again, to look at it more closely."""
    assert visit.body is not None
    try:
        document = identify(visit.body, visit.headers.get("content-type", visit.content_type))
    except NotADocument:
        return None
    if document.kind is Kind.JSON:
        import orjson

        try:
            data = orjson.loads(charset.decode(document.body, document.charset))
        except ValueError:
            return None
        return Subject(None, source=str, page_url=visit.url, data=data)
    if document.kind is not Kind.HTML:
        return None
    html = charset.parse_html(document.body, document.charset)
    root = html.root
    return Subject(
        html,
        source=lambda: charset.decode(document.body, document.charset or html.encoding),
        base_url=lambda: html.base_url(visit.url),
        page_url=visit.url,
        language=root.attr("lang") if root is not None else None,
    )
