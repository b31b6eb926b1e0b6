"""What stands around the subject: pictures, tags, links, ways to it, and ways to write to somebody."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tarantella.extractors.selectors import absolute, text_of
from tarantella.extractors.sightings.looking import Sighting, main_heading, place_of, visible
from tarantella.extractors.sightings.title import letters
from tarantella.extractors.subject import Subject

_NO_PICTURE = re.compile(
    r"logo|icon|sprite|avatar|pixel|spacer|blank|placeholder|badge|banner|\.svg|^data:|gravatar", re.IGNORECASE
)


def image(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    html = subject.tree
    link = html.select_one('link[rel~="image_src" i][href]')
    if link is not None:
        yield Sighting(link.attr("href"), "link image_src")
    for selector in ('[itemprop~="image"]', "article img, main img, figure img", "img"):
        for element in visible(html, selector):
            raw = element.attr("data-src") or element.attr("src") or element.attr("href") or element.attr("content")
            small = any(
                (element.attr(side) or "999").isdigit() and int(element.attr(side) or 999) < 100
                for side in ("width", "height")
            )
            if raw and not small and not _NO_PICTURE.search(raw):
                yield Sighting(raw, f"image {place_of(element)}")


def tags(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    for selector in (
        'a[rel~="tag"]',
        '.tags a, .tag-list a, .post-tags a, .article-tags a, .entry-tags a, .topics a, [class*="tags" i] a',
        ".tags li, ul.tags li, .tags span",
    ):
        found = list(
            dict.fromkeys(text_of(e).lstrip("#") for e in subject.tree.select(selector)[:100] if 0 < len(e.text) <= 60)
        )
        if found:
            yield Sighting(found, f"tags {selector.split(',')[0]}")
            return


def links(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    hrefs: dict[str, None] = {}
    for element in subject.tree.select("a[href]")[:10_000]:
        address = absolute(subject.base_url, element.attr("href"))
        if address and address.startswith(("http:", "https:")):
            hrefs[address.partition("#")[0]] = None
    if hrefs:
        yield Sighting(list(hrefs), "links")


def breadcrumbs(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    for selector in (
        '[class*="breadcrumb" i] a, [class*="breadcrumb" i] li, [aria-label*="breadcrumb" i] a, [id*="breadcrumb" i] a',
    ):
        found = list(dict.fromkeys(text_of(e) for e in subject.tree.select(selector)[:50] if 0 < len(e.text) <= 100))
        if found:
            yield Sighting(found, "breadcrumb")


def category(subject: Subject) -> Iterator[Sighting]:
    for crumbs in breadcrumbs(subject):
        ways = [
            crumb
            for crumb in crumbs.value
            if crumb.casefold() not in {"home", "start", "startseite", "accueil", "inicio"}
        ]
        heading = main_heading(subject.tree) if subject.tree is not None else None
        ways = [way for way in ways if heading is None or letters(way) != letters(text_of(heading))]
        if ways:
            yield Sighting(ways[-1], "breadcrumb")


def description(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    for element in visible(
        subject.tree,
        '.standfirst, .lead, .lede, .dek, .subtitle, .subheadline, [class*="standfirst" i], [class*="subhead" i], [itemprop~="description"], .product-description, #description',
    ):
        text = text_of(element)
        if 20 <= len(text) <= 2_000:
            yield Sighting(text, f"lead {place_of(element)}")


def email(subject: Subject) -> Iterator[Sighting]:
    yield from _contact(subject, "mailto:")


def phone(subject: Subject) -> Iterator[Sighting]:
    yield from _contact(subject, "tel:")


def _contact(subject: Subject, scheme: str) -> Iterator[Sighting]:
    assert subject.tree is not None
    for element in subject.tree.select(f'a[href^="{scheme}" i]')[:50]:
        value = (element.attr("href") or "")[len(scheme) :].partition("?")[0].strip()
        if value:
            yield Sighting(value, f"link {scheme.rstrip(':')}")


def called(name: str) -> Callable[[Subject], Iterator[Sighting]]:
    """What has the name of the field as its class, id or attribute."""
    dashed = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")

    def look(subject: Subject) -> Iterator[Sighting]:
        assert subject.tree is not None
        if not dashed:
            return
        joined = dashed.replace("-", "_")
        places = f'[itemprop~="{dashed}" i], [data-{dashed}], [id="{dashed}" i], [id="{joined}" i], [class~="{dashed}" i], [class~="{joined}" i]'
        for element in visible(subject.tree, places):
            value = (
                element.attr(f"data-{dashed}")
                or element.attr("content")
                or (text_of(element) if len(element.text) <= 2_000 else "")
            )
            if value:
                yield Sighting(value, f"element {place_of(element)}")

    return look
