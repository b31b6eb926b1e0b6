"""Fields that are nothing but a name: found by themselves, and told where."""

from __future__ import annotations

from typing import Any

import pytest

from tarantella.domain.field import fields_of
from tarantella.domain.spec import Spec
from tarantella.extractors.names import ALIASES, RULES
from tarantella.extractors.page import Extracted, Wants, extract
from tarantella.extractors.scripts import json_in_program

URL = "https://shop.test/tea/green"
JSON_LD = """<html lang="en"><title>Green tea | Tea shop</title><script type="application/ld+json">
{"@context": "https://schema.org", "@graph": [
 {"@type": "BreadcrumbList", "itemListElement": [{"@type": "ListItem", "name": "Tea"}, {"@type": "ListItem", "name": "Green"}]},
 {"@type": "Product", "name": "Green tea &amp; mint", "sku": "GT-1", "image": ["/a.jpg", "/b.jpg"], "brand": {"@type": "Brand", "name": "Leaf"},
  "aggregateRating": {"@type": "AggregateRating", "ratingValue": "4.5", "reviewCount": 12},
  "offers": {"@type": "Offer", "price": "1299.000", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"},
  "review": [{"@type": "Review", "author": {"@type": "Person", "name": "A Customer"}, "datePublished": "2020-01-01"}],}
]}</script><body><h1>Green tea</h1>"""
MICRODATA = """<html lang="de"><body><div itemscope itemtype="http://schema.org/Product"><h1 itemprop="name">Kanne</h1>
<div itemprop="offers" itemscope itemtype="http://schema.org/Offer"><meta itemprop="priceCurrency" content="CHF">
<span itemprop="price" content="49.90">49,90</span><link itemprop="availability" href="http://schema.org/OutOfStock"></div>
<span itemprop="brand">Ton</span></div>"""
RDFA = """<html lang="fr"><body vocab="http://schema.org/" typeof="NewsArticle"><h1 property="headline">Du thé</h1>
<span property="author" typeof="Person"><span property="name">Anne Petit</span></span>
<time property="datePublished" datetime="2024-03-05T10:00:00+01:00">5 mars</time>"""
METAS = """<html><head><title>x</title><meta property="og:title" content="On tea - Tea Daily"><meta property="og:site_name" content="Tea Daily">
<meta property="article:published_time" content="2024-03-05T10:00:00Z"><meta name="author" content="Ann Leaf">
<meta property="article:tag" content="tea"><meta property="article:tag" content="mint"><meta name="description" content="All of it">
<meta property="og:image" content="/tea.jpg"><meta property="product:price:amount" content="5.5"><meta property="product:price:currency" content="USD">"""
PLAIN = """<html lang="de"><head><title>Teekanne aus Ton – Laden</title></head><body><nav><a href="/">Start</a></nav>
<div class="breadcrumb"><a href="/">Start</a> <a href="/kannen">Kannen</a></div>
<div class="main"><h1>Teekanne aus Ton</h1><div class="old-price">79,00 €</div><div class="price">ab 1.049,90 €</div>
<span class="stock">Auf Lager</span> <span class="stars" title="4,3 von 5 Sternen">★★★★☆</span> <a href="#reviews">(27 Bewertungen)</a>
<table><tr><th>Marke</th><td>Ton &amp; Co</td></tr><tr><th>Farbe:</th><td>rot</td></tr></table><p>Art.-Nr.: TK-77</p></div>
<div class="related"><div class="price">3,00 €</div><span>Ausverkauft</span></div>"""
NEWS = """<html lang="en"><head><title>Mint is back - The Gazette</title></head><body><div id="header">The Gazette</div>
<h1>Mint is back</h1><div class="byline">By <a href="/jane">Jane Green</a> | March 5, 2024</div><p>Text.</p>
<p class="upd">Last updated: 6 March 2024 at 10:30</p><div class="tags"><a>mint</a><a>tea</a></div>"""


def read(page: str, *names: Any, url: str = URL, content_type: str = "text/html") -> Extracted:
    return extract(page.encode(), content_type, Wants.of(Spec(text="none", fields=fields_of(names))), url)


@pytest.mark.parametrize(
    ("page", "name", "value", "source"),
    [
        (JSON_LD, "title", "Green tea & mint", "json-ld Product.name"),
        (JSON_LD, "price", 1299, "json-ld Product.offers.price"),
        (JSON_LD, "currency", "EUR", "json-ld Product.offers.priceCurrency"),
        (JSON_LD, "availability", "InStock", "json-ld Product.offers.availability"),
        (JSON_LD, "rating", 4.5, "json-ld Product.aggregateRating.ratingValue"),
        (JSON_LD, "reviews", 12, "json-ld Product.aggregateRating.reviewCount"),
        (JSON_LD, "sku", "GT-1", "json-ld Product.sku"),
        (JSON_LD, "brand", "Leaf", "json-ld Product.brand"),
        (JSON_LD, "image", "https://shop.test/a.jpg", "json-ld Product.image"),
        (JSON_LD, "breadcrumbs", ["Tea", "Green"], "json-ld BreadcrumbList.itemListElement.name"),
        (JSON_LD, "author", None, None),  # whoever wrote a review did not write the page
        (JSON_LD, "published", None, None),
        (JSON_LD, "language", "en", "html lang"),
        (MICRODATA, "price", 49.9, "microdata Product.offers.price"),
        (MICRODATA, "currency", "CHF", "microdata Product.offers.priceCurrency"),
        (MICRODATA, "availability", "OutOfStock", "microdata Product.offers.availability"),
        (MICRODATA, "brand", "Ton", "microdata Product.brand"),
        (RDFA, "title", "Du thé", "rdfa NewsArticle.headline"),
        (RDFA, "author", "Anne Petit", "rdfa NewsArticle.author"),
        (RDFA, "published", "2024-03-05T10:00:00+01:00", "rdfa NewsArticle.datePublished"),
        (METAS, "title", "On tea", "meta og:title"),
        (METAS, "author", "Ann Leaf", "meta author"),
        (METAS, "published", "2024-03-05T10:00:00+00:00", "meta article:published_time"),
        (METAS, "tags", ["tea", "mint"], "meta article:tag"),
        (METAS, "description", "All of it", "meta description"),
        (METAS, "image", "https://shop.test/tea.jpg", "meta og:image"),
        (METAS, "price", 5.5, "meta product:price:amount"),
        (METAS, "site", "Tea Daily", "meta og:site_name"),
        (PLAIN, "title", "Teekanne aus Ton", "h1"),
        (PLAIN, "price", 1049.9, "price div.price"),
        (PLAIN, "currency", "EUR", "price div.price"),
        (PLAIN, "availability", "InStock", "stock span.stock"),
        (PLAIN, "rating", 4.3, "rating span.stars"),
        (PLAIN, "review_count", 27, "reviews a"),
        (PLAIN, "sku", "TK-77", "label in the text"),
        (PLAIN, "brand", "Ton & Co", "label Marke"),
        (PLAIN, "farbe", "rot", "label Farbe"),
        (PLAIN, "color", "rot", "label Farbe"),
        (PLAIN, "category", "Kannen", "breadcrumb"),
        (PLAIN, "links", ["https://shop.test/", "https://shop.test/kannen", URL], "links"),
        (NEWS, "title", "Mint is back", "h1"),
        (NEWS, "author", "Jane Green", "byline div.byline"),
        (NEWS, "published", "2024-03-05", "date div.byline"),
        (NEWS, "modified", "2024-03-06T10:30:00", "date p.upd"),
        (NEWS, "tags", ["mint", "tea"], "tags .tags a"),
        (NEWS, "url", URL, "address"),
    ],
)
def test_a_name_is_found_and_its_source_told(page: str, name: str, value: Any, source: str | None) -> None:
    data = read(page, name).data
    assert data["fields"] == {name: value}
    assert data.get("sources", {}).get(name) == source


def test_every_other_name_means_one_that_is_known() -> None:
    assert set(ALIASES.values()) <= set(RULES)
    assert not set(ALIASES) & set(RULES)


def test_a_name_that_nobody_foresaw_is_looked_for_under_itself() -> None:
    page = '<script type="application/ld+json">{"@type": "Recipe", "cookTime": "PT5M"}</script><p class="origin-story">Long ago</p>'
    assert read(page, "cook_time", "cookTime", "origin story").data["fields"] == {
        "cook_time": "PT5M",
        "cookTime": "PT5M",
        "origin story": "Long ago",
    }


def test_of_many_products_only_the_pages_own_counts() -> None:
    product = '{"@type": "Product", "name": "%s", "offers": {"price": %d}}'
    many = ",".join(product % (name, price) for name, price in (("Pot", 1), ("Green tea", 2), ("Cup", 3)))
    page = f'<title>%s</title><script type="application/ld+json">[{many}]</script><h1>%s</h1>'
    assert read(page % ("Green tea", "Green tea"), "price").data["fields"] == {"price": 2}
    assert read(page % ("Our shop", "All goods"), "price").data["fields"] == {"price": None}


def test_a_type_that_was_asked_for_counts_and_what_does_not_fit_is_told() -> None:
    page = '<meta name="author" content="Ann Leaf"><meta property="article:published_time" content="soon">'
    data = read(page, {"name": "published"}, {"name": "author", "type": "integer"}).data
    assert data["fields"] == {"published": None, "author": None}
    assert data["problems"]["published"] == {"problem": "it is not a date", "raw": "soon"}
    assert data["problems"]["author"]["raw"] == "Ann Leaf"


@pytest.mark.parametrize(
    "html",
    [
        '<div class="reviews">1.234 Bewertungen</div>',
        '<script type="application/ld+json">{"@type": "Product", "aggregateRating": {"reviewCount": "1.234"}}</script>',
    ],
)
def test_a_count_has_no_fraction_but_thousands_where_its_page_writes_them_so(html: str) -> None:
    assert read(f'<html lang="de"><title>Tee</title>{html}', "review_count").data["fields"] == {"review_count": 1234}
    data = read(f'<html lang="en"><title>Tea</title>{html}', "review_count").data
    assert data["problems"] == {"review_count": {"problem": "it is not an integer", "raw": "1.234"}}


def test_names_are_found_in_a_json_body_too() -> None:
    body = '{"name": "Tea", "offers": {"price": "4.5"}}'
    assert read(body, "name", "price", content_type="application/json").data["fields"] == {"name": "Tea", "price": 4.5}


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "{",
        "null",
        "[]",
        '"text"',
        '{"@type": ["Product", 5], "name": {"@value": "x"}, "offers": [[]]}',
        '{"@type": "Product", "@graph": {"@graph": {"@graph": []}}}',
        "[" * 100_000,
        '{"@type":"Product","offers":' * 5_000 + "1" + "}" * 5_000,
        '{"@id": "a", "offers": {"@id": "a"}}',
        '<!-- {"@type": "Product"} -->',
    ],
)
def test_broken_json_ld_breaks_nothing(broken: str) -> None:
    page = f'<title>T</title><script type="application/ld+json">{broken}</script>'
    names = [*RULES, "anything"]
    fields = read(page, *(name for name in names if name not in ("text", "markdown"))).data["fields"]
    assert fields["title"] in ("T", "x")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"a\ud800b", "a\ufffdb"),
        (r"a\uDFFFb", "a\ufffdb"),
        (r"\ud83d\ude00\ud83d", "\U0001f600\ufffd"),
        (r"\ude00\ud83d\ude00", "\ufffd\U0001f600"),
        (r"\\ud800 \\\ud800", r"\ud800 " + "\\\ufffd"),
    ],
)
def test_half_a_character_in_structured_data_becomes_a_mark_wherever_it_stands(written: str, meant: str) -> None:
    thing = f'{{"@type": "Product", "name": "{written}"}}'
    for script in (thing, f"{thing[:-1]},}}"):
        page = read(f'<script type="application/ld+json">{script}</script>', "title")
        assert page.data["fields"] == {"title": meant}
    quoted = thing.replace("\\", "\\\\").replace('"', '\\"')
    for program in (f"window.a = {thing};", f'window.a = JSON.parse("{quoted}")'):
        assert list(json_in_program(program)) == [{"@type": "Product", "name": meant}]


@pytest.mark.parametrize(
    ("byline", "author"),
    [('<p class="byline">By Jane Green</p>', "Jane Green"), ('<p class="author">Photo: somebody</p>', "Tea Daily")],
)
def test_a_site_that_names_itself_as_author_is_one_only_where_no_person_is_named(byline: str, author: str) -> None:
    told = '{"@type": "NewsArticle", "headline": "x", "author": {"@type": "Organization", "name": "Tea Daily"}}'
    page = f"""<html><head><meta property="og:site_name" content="Tea Daily"><script type="application/ld+json">{told}</script></head>
    <body><h1>x</h1>{byline}<p>Text.</p></body></html>"""
    assert read(page, "author").data["fields"]["author"] == author
