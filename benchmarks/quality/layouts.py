"""Pages as the web has them: the same stories in many layouts, with everything that stands around a text."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from html import escape
from typing import NamedTuple

from benchmarks.quality.stories import Told, tell

Layout = Callable[[Told, random.Random], str]


class Page(NamedTuple):
    """A page and its truth."""

    name: str
    html: str
    story: Told


# --- what stands around ----------------------------------------------------------------------------------------------------

_MENU = ("Home", "World", "Business", "Culture", "Sport", "Weather", "Shop", "Jobs", "About us", "Contact")
_OTHERS = (
    "Storm closes the upper bridge for a third night",
    "What the ferry timetable does not say",
    "Ten looms worth a detour this autumn",
    "The council postpones its decision again",
    "Why nobody wants the corner house",
    "A recipe for bread from the year of the flood",
    "Harbour master retires after forty winters",
)
_BLURBS = (
    "The upper bridge stays closed until the wind drops, the harbour office said on Tuesday evening, and longer if need be.",
    "Those who rely on it have learned to read between the lines, and between the boats, which are late for their own reasons.",
    "From the valley to the coast: where to see old machines at work, what to eat on the way and where to sleep afterwards.",
)
_COMMENTS = (
    "I walked past it only yesterday and thought exactly the same, thank you for writing about it at last, it was about time.",
    "With respect, this is nonsense. My grandfather built half of that street and he never mentioned any of these people.",
    "Does anybody know whether the museum is open on Sundays? We are coming with a group of twelve and would like to bring a dog.",
    "Beautifully written. I have shared it with everyone in the choir, and the conductor has promised to read it aloud.",
)


def _nav() -> str:
    return "<ul>" + "".join(f'<li><a href="/{i}">{item}</a></li>' for i, item in enumerate(_MENU)) + "</ul>"


def _links(luck: random.Random, count: int = 5) -> str:
    return (
        "<ul>"
        + "".join(f'<li><a href="/s/{i}">{title}</a></li>' for i, title in enumerate(luck.sample(_OTHERS, count)))
        + "</ul>"
    )


def _teasers(luck: random.Random, tag: str = "div") -> str:
    chosen = zip(luck.sample(_OTHERS, 3), _BLURBS, strict=True)
    return "".join(
        f'<{tag} class="card"><h3><a href="/c/{i}">{t}</a></h3><p>{b}</p></{tag}>' for i, (t, b) in enumerate(chosen)
    )


def _comments(count: int = 4) -> str:
    said = "".join(f'<li class="comment"><b>reader{i}</b><p>{_COMMENTS[i % 4]}</p></li>' for i in range(count))
    return f'<div id="comments"><h3>{count} comments</h3><ol>{said}</ol></div>'


def _cookies() -> str:
    return (
        '<div class="cookie-consent" role="dialog"><p>We and our 842 partners store and access information on a device, such as '
        "cookies, to show you personalised content. You can accept or manage your choices by clicking below.</p><button>Accept all</button></div>"
    )


def _share() -> str:
    return '<div class="share-buttons"><a href="#">Facebook</a> <a href="#">Twitter</a> <a href="#">Email</a> <span>Share this story</span></div>'


def _newsletter() -> str:
    return '<div class="newsletter-signup"><h4>Sign up for our newsletter</h4><p>Get the stories that matter, every morning, in your inbox, for free.</p></div>'


def _footer() -> str:
    return (
        "<footer><p>© 2026 The Gazette. All rights reserved. No part of this site may be reproduced without permission.</p>"
        + _nav()
        + "</footer>"
    )


def _figure() -> str:
    return '<figure><img src="/loom.jpg" alt="A loom"><figcaption>The loom in its new room, seen from the street. Photo: A. Weaver / Gazette</figcaption></figure>'


def _parts(told: Told, wrap: Callable[[str], str] = lambda text: f"<p>{text}</p>", head: str = "h2") -> list[str]:
    """The paragraphs and the headings between them, in the order of the truth."""
    heads = set(told.heads)
    return [
        f"<{head}>{escape(line)}</{head}>" if line in heads else wrap(escape(line)) for line in told.text.split("\n")
    ]


def _shell(told: Told, body: str, head: str = "", attributes: str = "") -> str:
    return (
        f'<!doctype html><html lang="{told.language}"><head><meta charset="utf-8"><title>{escape(told.title)} - The Gazette</title>'
        f"{head}</head><body{attributes}>{body}</body></html>"
    )


def _json_ld(told: Told) -> str:
    about = {
        "@type": "NewsArticle",
        "headline": told.title,
        "author": {"@type": "Person", "name": told.author},
        "datePublished": told.day,
    }
    return f'<script type="application/ld+json">{json.dumps(about)}</script>'


# --- layouts ---------------------------------------------------------------------------------------------------------------


def semantic(told: Told, luck: random.Random) -> str:
    parts = _parts(told)
    parts.insert(3, _figure())
    body = (
        f"<header><h1>{told.title}</h1><p class='byline'>By {told.author}</p><time>{told.day}</time></header>"
        + "".join(parts)
    )
    return _shell(
        told,
        f"<header><nav>{_nav()}</nav></header><main><article>{body}</article><aside>{_teasers(luck)}</aside></main>{_footer()}",
        _json_ld(told),
    )


def wordpress(told: Told, luck: random.Random) -> str:
    body = (
        f'<div id="page"><div id="header"><h1><a href="/">The Gazette</a></h1>{_nav()}</div><div id="content"><article class="post-17 post type-post status-publish '
        f'category-news tag-looms"><h1 class="entry-title">{told.title}</h1><div class="entry-meta">Posted on <a href="#">{told.day}</a> by {told.author}</div>'
        f'<div class="entry-content">{"".join(_parts(told))}<div class="sharedaddy">{_share()}</div><div id="jp-relatedposts"><h3>Related</h3>{_links(luck, 3)}</div></div>'
        f'<footer class="entry-footer">Filed under <a rel="tag">looms</a></footer></article>{_comments()}</div><div id="secondary" class="widget-area">'
        f'<div class="widget"><h2>Recent posts</h2>{_links(luck)}</div></div></div>{_footer()}'
    )
    return _shell(told, body, attributes=' class="single single-post"')


def div_soup(told: Told, luck: random.Random) -> str:
    paragraphs = "".join(_parts(told, lambda text: f"<div>{text}</div>", "div"))
    return _shell(
        told,
        f'<div class="top">{_nav()}</div><div class="wrap"><div class="left">{_links(luck)}</div><div class="mid"><div class="ttl">{told.title}</div>'
        f'<div class="by">{told.author}, {told.day}</div><div class="txt">{paragraphs}</div>{_share()}</div><div class="right">{_teasers(luck)}</div></div><div class="bottom">{_nav()}</div>',
    )


def old_tables(told: Told, _: random.Random) -> str:
    text = "<br><br>".join(_parts(told, lambda text: text, "b"))
    return (
        f"<html><head><title>{told.title}</title></head><body bgcolor=white><table width=100%><tr><td colspan=2><font size=6>The Gazette</font></td></tr>"
        f"<tr><td width=150 valign=top>{_nav()}</td><td><font face=Arial><b>{told.title}</b><br><i>{told.author}, {told.day}</i><br><br>{text}</font></td></tr>"
        f"<tr><td colspan=2><font size=1>Copyright 1999</font></td></tr></table></body></html>"
    )


def line_breaks(told: Told, luck: random.Random) -> str:
    text = "<br><br>\n".join(_parts(told, lambda text: text, "strong"))
    return _shell(
        told,
        f'<div id="menu">{_nav()}</div><h1>{told.title}</h1><div id="story">{text}</div><div id="more">{_links(luck)}</div>',
    )


def amp(told: Told, luck: random.Random) -> str:
    parts = _parts(told)
    parts.insert(2, '<amp-ad width=300 height=250 type="x"><div>Advertisement</div></amp-ad>')
    return (
        f'<!doctype html><html amp lang="{told.language}"><head><meta charset="utf-8"><title>{told.title}</title>{_json_ld(told)}</head><body>'
        f'<amp-sidebar id="s" layout="nodisplay">{_nav()}</amp-sidebar><article><h1>{told.title}</h1><p class="amp-byline">{told.author}</p>'
        f'<amp-img src="x.jpg" width=1 height=1></amp-img>{"".join(parts)}</article><section class="related"><h2>Related</h2>{_links(luck)}</section></body></html>'
    )


def comments_longer(told: Told, _: random.Random) -> str:
    return _shell(
        told,
        f'<div class="nav">{_nav()}</div><div class="post"><h1>{told.title}</h1><div class="post-body">{"".join(_parts(told))}</div></div>{_comments(40)}{_footer()}',
    )


def boxes_inside(told: Told, luck: random.Random) -> str:
    parts = _parts(told)
    parts.insert(2, f'<div class="related-inline"><h4>Read more</h4>{_links(luck, 2)}</div>')
    parts.insert(
        4, '<p><strong><a href="/x">Read also: Storm closes the upper bridge for a third night</a></strong></p>'
    )
    parts.insert(5, _newsletter())
    parts.insert(7, '<div class="ad-slot">Advertisement</div>')
    return _shell(
        told,
        f'<nav>{_nav()}</nav><div class="article-body">{"".join(parts)}</div>{_share()}<div class="teasers">{_teasers(luck)}</div>{_footer()}',
    )


def hashed_classes(told: Told, luck: random.Random) -> str:
    parts = "".join(
        _parts(
            told, lambda text: f'<p class="sc-{luck.randrange(16**6):06x} css-{luck.randrange(16**5):05x}">{text}</p>'
        )
    )
    return _shell(
        told,
        f'<div id="__next"><div class="css-1a2b3"><div class="css-9f8e7">{_nav()}</div></div><div class="css-0c0de"><div class="css-77aa1"><h1 class="css-x1">{told.title}</h1>'
        f'<div class="css-by">{told.author}</div></div><div class="css-5e5e5">{parts}</div><div class="css-44444">{_teasers(luck)}</div></div></div>',
        _json_ld(told),
    )


def sections(told: Told, luck: random.Random) -> str:
    blocks = "".join(f'<section class="text-block"><div class="inner">{part}</div></section>' for part in _parts(told))
    return _shell(
        told,
        f'{_cookies()}<header>{_nav()}</header><main><h1>{told.title}</h1>{blocks}<section class="promo">{_teasers(luck)}</section></main>{_footer()}',
    )


def form_around_all(told: Told, luck: random.Random) -> str:
    return _shell(
        told,
        f'<form id="aspnetForm" method="post" action="page.aspx"><input type="hidden" name="__VIEWSTATE" value="{"x" * 2_000}"><div id="ctl00_top">{_nav()}</div>'
        f'<div id="ctl00_main"><h1>{told.title}</h1><span id="ctl00_date">{told.day}</span><div id="ctl00_body">{"".join(_parts(told))}</div></div>'
        f'<div id="ctl00_side">{_links(luck)}</div></form>',
    )


def interview(told: Told, luck: random.Random) -> str:
    asked = [
        f"<p><strong>{line}</strong></p>" if i % 2 == 0 else f"<p>{line}</p>"
        for i, line in enumerate(map(escape, told.text.split("\n")))
    ]
    return _shell(
        told,
        f'<nav>{_nav()}</nav><article class="interview"><h1>{told.title}</h1>{"".join(asked)}</article><div class="sidebar">{_teasers(luck)}</div>',
    )


def lists_and_quotes(told: Told, luck: random.Random) -> str:
    lines = [escape(line) for line in told.text.split("\n")]
    items = "<ul>" + "".join(f"<li>{line}</li>" for line in lines[2:5]) + "</ul>"
    body = (
        "".join(f"<p>{line}</p>" for line in lines[:2])
        + items
        + f"<blockquote><p>{lines[5]}</p></blockquote>"
        + "".join(f"<p>{line}</p>" for line in lines[6:])
    )
    return _shell(
        told,
        f'<header>{_nav()}</header><div class="content"><h1>{told.title}</h1>{_share()}{body}</div><div class="most-read"><h3>Most read</h3>{_links(luck)}</div>{_footer()}',
    )


def table_inside(told: Told, _: random.Random) -> str:
    lines = [escape(line) for line in told.text.split("\n")]
    half = len(lines) // 2
    table = (
        f"<table><tr><th>Loom</th><td>{lines[half]}</td></tr><tr><th>Bridge</th><td>{lines[half + 1]}</td></tr></table>"
    )
    body = (
        "".join(f"<p>{line}</p>" for line in lines[:half])
        + table
        + "".join(f"<p>{line}</p>" for line in lines[half + 2 :])
    )
    return _shell(
        told,
        f'<nav>{_nav()}</nav><main><article><h1>{told.title}</h1><div class="article__content">{body}</div></article></main>{_footer()}',
    )


def in_parts(told: Told, luck: random.Random) -> str:
    parts = _parts(told)
    third = max(1, len(parts) // 3)
    pieces = ["".join(parts[at : at + third]) for at in range(0, len(parts), third)]
    ad = '<div class="advert-block"><p>Our partners offer you the finest yarn of the season, now with free delivery to your door.</p></div>'
    body = ad.join(f'<div class="story-body story-body-{i}">{piece}</div>' for i, piece in enumerate(pieces))
    return _shell(
        told,
        f'<header><nav>{_nav()}</nav></header><div class="story"><h1>{told.title}</h1>{body}</div><div class="recommended">{_teasers(luck)}</div>{_footer()}',
    )


def many_articles(told: Told, _: random.Random) -> str:
    others = "".join(
        f'<article class="teaser"><h2><a href="/{i}">{t}</a></h2><p>{b}</p></article>'
        for i, (t, b) in enumerate(zip(_OTHERS, _BLURBS * 3, strict=False))
    )
    return _shell(
        told,
        f'<nav>{_nav()}</nav><article class="main"><h1>{told.title}</h1>{"".join(_parts(told))}</article><section class="latest">{others}</section>{_footer()}',
    )


def about_the_author(told: Told, luck: random.Random) -> str:
    about = f'<div class="author-bio"><img src="a.jpg"><p>{told.author} has written about looms and bridges for this paper since anyone can remember, and lives by the harbour with two cats.</p></div>'
    return _shell(
        told,
        f'{_cookies()}<div class="page-header">{_nav()}</div><div itemscope itemtype="http://schema.org/Article"><h1 itemprop="headline">{told.title}</h1>'
        f'<div itemprop="articleBody">{"".join(_parts(told, head="h3"))}</div>{about}{_share()}</div><div class="you-may-also-like"><h3>You may also like</h3>{_teasers(luck)}</div>{_footer()}',
    )


def live_blog(told: Told, luck: random.Random) -> str:
    entries = "".join(
        f'<div class="live-entry"><time datetime="2024-03-05T{10 + i}:00">{10 + i}:00</time><p>{escape(line)}</p></div>'
        for i, line in enumerate(told.text.split("\n"))
    )
    return _shell(
        told,
        f'<nav>{_nav()}</nav><main><h1>{told.title}</h1><div class="live-blog-content">{entries}</div><aside class="key-events">{_links(luck, 4)}</aside></main>{_footer()}',
    )


def paywall(told: Told, _: random.Random) -> str:
    wall = '<div class="paywall-offer"><h3>Continue reading with a subscription</h3><p>Unlimited access to all our stories for one euro in the first month. Cancel anytime.</p></div>'
    return _shell(
        told,
        f'<nav>{_nav()}</nav><article><h1>{told.title}</h1><div class="article-text">{"".join(_parts(told))}</div>{wall}</article>{_footer()}',
        _json_ld(told),
    )


def hidden_until_loaded(told: Told, luck: random.Random) -> str:
    return _shell(
        told,
        f'<div id="app" style="display:none"><div class="nav">{_nav()}</div><div class="c"><h1>{told.title}</h1><div class="t">{"".join(_parts(told))}</div></div><div class="r">{_teasers(luck)}</div></div>',
    )


LAYOUTS: tuple[Layout, ...] = (
    *(
        semantic,
        wordpress,
        div_soup,
        old_tables,
        line_breaks,
        amp,
        comments_longer,
        boxes_inside,
        hashed_classes,
        sections,
    ),
    *(
        form_around_all,
        interview,
        lists_and_quotes,
        table_inside,
        in_parts,
        many_articles,
        about_the_author,
        live_blog,
        paywall,
    ),
    *(hidden_until_loaded,),
)
LANGUAGES = ("en", "en", "de", "fr", "es", "ja", "ru")
LENGTHS = (5, 9, 16)


def pages() -> list[Page]:
    """Every layout in every language and length; the same on every machine."""
    made = []
    for number, layout in enumerate(LAYOUTS):
        for at, language in enumerate(LANGUAGES):
            seed = number * 100 + at
            told = tell(seed, language, LENGTHS[(number + at) % 3], heads=at % 3)
            if len(told.text.split("\n")) >= 8 or layout not in (lists_and_quotes, table_inside):
                made.append(Page(layout.__name__, layout(told, random.Random(seed)), told))
    return made
