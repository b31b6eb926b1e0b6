"""The gazette's pages as HTML."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape

from tarantella.demo import content
from tarantella.demo.article import Article
from tarantella.demo.stories import SECTIONS, Section

GAZETTE = "The Tarantella Gazette"

_STYLE = """\
:root { --paper: #fbf7ee; --ink: #2b2420; --rust: #a5401f; --line: #ddd0b8; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #1d1916; --ink: #e9dfcf; --rust: #e58a63; --line: #40372f; }
}
body { margin: 0 auto; max-width: 42rem; padding: 1.5rem; background: var(--paper); color: var(--ink);
  font: 1.06rem/1.6 Georgia, "Times New Roman", serif; }
body > header { border-bottom: 3px double var(--line); margin-bottom: 1.5rem; text-align: center; }
body > header p { margin: 0; font-size: 1.9rem; }
body > footer { border-top: 3px double var(--line); margin-top: 2.5rem; padding-top: .6rem;
  font-size: .85rem; }
nav a { margin: 0 .45rem; }
a { color: var(--rust); text-decoration-thickness: 1px; text-underline-offset: 3px; }
h1 { font-weight: normal; line-height: 1.2; }
.byline, .motto, time { font-style: italic; opacity: .85; }
.stories { list-style: none; padding: 0; }
.stories li { border-bottom: 1px solid var(--line); padding: .7rem 0; }
.stories p { margin: .2rem 0 0; }
.offer { border: 1px solid var(--line); margin: 2rem 0; padding: .3rem 1rem; }
.price { color: var(--rust); font-weight: bold; }
.pages { text-align: center; }
"""


def home() -> str:
    newest = "".join(_entry(article) for article in content.ARTICLES[: len(SECTIONS)])
    body = (
        "<h1>News of dancing, spiders and the sea</h1>"
        "<p>A small paper from a town between two seas, where everything is said at a hundred and sixty "
        "beats a minute. None of it happened; all of it is true.</p>"
        f'<h2>The newest</h2><ul class="stories">{newest}</ul>'
        f'<p>Older stories are in <a href="{content.archive_path(1)}">the archive</a>. For the adventurous '
        f'there is a <a href="{content.CURIOSITIES}">cabinet of curiosities</a>.</p>'
    )
    return _page(GAZETTE, "News of dancing, weaving, spiders and the harbour, from a town between two seas.", body)


def section(subject: Section) -> str:
    articles = [article for article in content.ARTICLES if article.section is subject]
    body = (
        f'<h1>{escape(subject.name)}</h1><p class="motto">{escape(subject.motto)}</p>'
        f'<ul class="stories">{"".join(map(_entry, articles))}</ul>'
        f"<p>Reported by {_desk_link(subject)}.</p>"
    )
    return _page(subject.name, subject.motto, body)


def desk(subject: Section) -> str:
    title = subject.desk.capitalize()
    body = (
        f"<h1>{escape(title)}</h1><p>{escape(subject.desk_note)}</p>"
        f'<p>It writes for <a href="{content.section_path(subject.key)}">{escape(subject.name)}</a>, and '
        f'answers <a href="mailto:{subject.key}@gazette.invalid">letters</a>.</p>'
    )
    return _page(title, subject.desk_note, body)


def archive(number: int) -> str:
    first = (number - 1) * content.ARCHIVE_PAGE_SIZE
    entries = "".join(map(_entry, content.ARTICLES[first : first + content.ARCHIVE_PAGE_SIZE]))
    body = (
        f'<h1>Archive, page {number} of {content.ARCHIVE_PAGES}</h1><ul class="stories">{entries}</ul>'
        f'<nav class="pages" aria-label="Pages">{_page_links(number)}</nav>'
    )
    return _page(f"Archive, page {number}", f"Page {number} of all the stories, the newest first.", body)


def article(subject: Article) -> str:
    paragraphs = "".join(f"<p>{escape(text)}</p>" for text in subject.paragraphs)
    place = content.section_path(subject.section.key)
    body = (
        f"<article><header><h1>{escape(subject.title)}</h1>"
        f'<p class="byline">By {_desk_link(subject.section, rel="author")}, in '
        f'<a class="section" href="{place}">{escape(subject.section.name)}</a>, {_time(subject)}</p></header>'
        f"{paragraphs}"
        f'<aside class="offer"><p>On the market today: <span class="ware">{escape(subject.ware)}</span>, '
        f'<data class="price" value="{subject.price}">€ {subject.price}</data></p></aside></article>'
        f'<nav aria-label="More to read"><p>Read next: {_neighbours(subject)}</p></nav>'
    )
    return _page(subject.title, subject.summary, body, head=_json_ld(subject))


def about() -> str:
    desks = "".join(f"<li>{_desk_link(each)}</li>" for each in SECTIONS)
    body = (
        "<h1>About this gazette</h1><p>It was invented so that Tarantella has something to read on a machine "
        "without a network. It is served from your own computer, names nobody, and may be crawled as often "
        "as you please.</p>"
        f"<h2>The desks</h2><ul>{desks}</ul>"
    )
    return _page("About", "Why this gazette exists, and who writes it.", body)


def curiosities() -> str:
    newest = content.ARTICLES[0]
    wonders = (
        (content.SWING_BRIDGE, "The swing bridge", "turns callers away twice (503), then lets them cross."),
        (content.TICKET_WINDOW, "The ticket window", "asks callers once to come back in a second (429)."),
        (content.SIESTA, "The siesta", "answers, but takes its time."),
        (content.LOST_AT_SEA, "Lost at sea", "is not there, and will not be (404)."),
        (content.EDITORS_DRAWER, "The editor's drawer", "is closed to robots by robots.txt."),
        (content.TODAYS_STORY, "Today's story", f"is another name for “{newest.title}” (301)."),
        (content.OLD_ADDRESS, "An old address", "leads to an article that no list mentions (301)."),
        (content.PUPPET_THEATRE, "The puppet theatre", "is dark until a script has lit it."),
        (content.BACK_DOOR, "The back door", "opens only for those who knock as a browser does (403)."),
        (content.TIDES, "The tide table", "is a JSON document."),
    )
    entries = "".join(f'<li><a href="{path}">{escape(name)}</a> {escape(what)}</li>' for path, name, what in wonders)
    body = (
        "<h1>Cabinet of curiosities</h1><p>A well-behaved site proves nothing. These addresses misbehave on "
        "purpose. To compare, here is one that does not: "
        f'<a href="{newest.path}">{escape(newest.title)}</a>.</p>'
        f'<ul class="stories">{entries}</ul>'
    )
    return _page("Cabinet of curiosities", "Addresses that misbehave on purpose.", body)


def puppet_theatre() -> str:
    """A page with nothing on it before its script has run."""
    play = "The spider bites, the drum begins, and nobody sits down before the second act."
    script = (
        f"document.title = 'The puppet theatre · {GAZETTE}';"
        f"document.getElementById('root').innerHTML = '<h1>The puppet theatre</h1><p>{play}</p>';"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>…</title><link rel="icon" href="data:,"></head><body>'
        f'<noscript>The stage is dark without JavaScript.</noscript><div id="root"></div><script>{script}</script></body></html>\n'
    )


def back_door() -> str:
    """What is said to whoever has not knocked; a browser does it by itself."""
    script = "document.cookie = 'knocks=3; path=/curiosities'; location.reload();"
    return _page("The back door", "Knock three times.", f"<h1>Knock three times</h1><script>{script}</script>")


def note(title: str, text: str) -> str:
    """A short page without links of its own."""
    return _page(title, text, f"<h1>{escape(title)}</h1><p>{escape(text)}</p>")


def _page(title: str, description: str, body: str, *, head: str = "") -> str:
    full_title = title if title == GAZETTE else f"{title} · {GAZETTE}"
    sections = "".join(f'<a href="{content.section_path(each.key)}">{escape(each.name)}</a>' for each in SECTIONS)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(full_title)}</title>"
        f'<meta name="description" content="{escape(description)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><style>{_STYLE}</style>{head}</head><body>'
        f'<header><p><a href="{content.HOME}">{GAZETTE}</a></p>'
        f'<nav aria-label="Sections">{sections}</nav></header>'
        f"<main>{body}</main>"
        f'<footer>Printed on loopback. <a href="{content.ABOUT}">About this gazette</a></footer>'
        "</body></html>\n"
    )


def _entry(article: Article) -> str:
    return (
        f'<li><a href="{article.path}">{escape(article.title)}</a> {_time(article)}'
        f"<p>{escape(article.summary)}</p></li>"
    )


def _time(article: Article) -> str:
    day = article.published
    return f'<time datetime="{day.isoformat()}">{day.day} {day:%B %Y}</time>'


def _desk_link(subject: Section, *, rel: str = "") -> str:
    attribute = f' rel="{rel}"' if rel else ""
    return f'<a{attribute} href="{content.desk_path(subject.key)}">{escape(subject.desk)}</a>'


def _page_links(current: int) -> str:
    return " ".join(_page_link(number, current) for number in range(1, content.ARCHIVE_PAGES + 1))


def _page_link(number: int, current: int) -> str:
    if number == current:
        return f'<span aria-current="page">{number}</span>'
    rel = {-1: ' rel="prev"', 1: ' rel="next"'}.get(number - current, "")
    return f'<a{rel} href="{content.archive_path(number)}">{number}</a>'


def _neighbours(subject: Article) -> str:
    return " · ".join(f'<a href="{each.path}">{escape(each.title)}</a>' for each in _read_next(subject))


def _read_next(subject: Article) -> Iterable[Article]:
    """One older story of the same section and the next story of another one."""
    position = content.ARTICLES.index(subject) if subject in content.ARTICLES else 0
    count = len(content.ARTICLES)
    return (
        content.ARTICLES[(position + len(SECTIONS)) % count],
        content.ARTICLES[(position + 1) % count],
    )


def _json_ld(subject: Article) -> str:
    facts = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": subject.title,
        "description": subject.summary,
        "datePublished": subject.published.isoformat(),
        "articleSection": subject.section.name,
        "author": {"@type": "Organization", "name": subject.section.desk},
        "inLanguage": "en",
    }
    # A "</script>" inside a text would end the element; JSON may write its slashes escaped.
    text = json.dumps(facts).replace("</", "<\\/")
    return f'<script type="application/ld+json">{text}</script>'
