"""Plain field names: whether each is found on pages that say it in different ways, or don't say it at all."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

from tarantella.domain.field import fields_of
from tarantella.domain.spec import Spec
from tarantella.extractors.page import Wants, extract

URL = "https://gazette.test/things/{}"
PRODUCT = (
    "title",
    "price",
    "currency",
    "availability",
    "rating",
    "review_count",
    "sku",
    "brand",
    "image",
    "description",
    "category",
)
STORY = ("title", "author", "published", "modified", "description", "image", "language", "tags", "site")
NAMES = tuple(dict.fromkeys((*PRODUCT, *STORY)))
SEEDS = range(12)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a page is about."""

    values: dict[str, Any]
    language: str
    luck: random.Random


class Case(NamedTuple):
    style: str
    html: str
    truth: dict[str, Any]  # what the page says; what it does not say is missing, and must not be found


_GOODS = ("Loom", "Teapot", "Lantern", "Harbour chart", "Bread knife", "Wool blanket")
_BRANDS = ("Aranea", "Nordlys", "Casa Vela", "Webwerk")
_PEOPLE = ("Ann Weaver", "José Marín", "Clara Lindqvist", "Tomasz Nowak")
_TAGS = ("looms", "harbour", "bread", "winter", "music")
_WORDS = {
    "en": {
        "stock": ("In stock", "Out of stock"),
        "sku": "SKU",
        "brand": "Brand",
        "by": "By",
        "updated": "Last updated:",
        "reviews": "reviews",
        "of": "out of",
    },
    "de": {
        "stock": ("Auf Lager", "Ausverkauft"),
        "sku": "Art.-Nr.",
        "brand": "Marke",
        "by": "Von",
        "updated": "Aktualisiert",
        "reviews": "Bewertungen",
        "of": "von",
    },
    "fr": {
        "stock": ("En stock", "Rupture de stock"),
        "sku": "Référence",
        "brand": "Marque",
        "by": "Par",
        "updated": "Mise à jour",
        "reviews": "avis",
        "of": "sur",
    },
}
_MONTHS = {
    "en": "January February March April May June July August September October November December".split(),
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(),
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(),
}


def _facts(seed: int) -> Facts:
    luck = random.Random(seed)
    language = ("en", "de", "fr")[seed % 3]
    name = f"{luck.choice(_GOODS)} {luck.choice('ABCDEFG')}{luck.randint(2, 99)}"
    values: dict[str, Any] = {
        "title": name,
        "price": luck.choice((luck.randint(5, 99) + 0.99, luck.randint(1000, 4999) + 0.5, luck.randint(10, 900))),
        "currency": "EUR" if language != "en" else luck.choice(("USD", "GBP")),
        "availability": luck.choice(("InStock", "OutOfStock")),
        "rating": round(luck.uniform(1, 5), 1),
        "review_count": luck.randint(2, 4_000),
        "sku": f"{luck.choice('XYZ')}-{luck.randint(100, 99_999)}",
        "brand": luck.choice(_BRANDS),
        "image": f"https://gazette.test/img/{seed}.jpg",
        "description": f"All that can be said of the {name}, and a little more than that.",
        "category": luck.choice(("Workshop", "Kitchen", "Sea")),
        "author": luck.choice(_PEOPLE),
        "published": f"20{luck.randint(15, 25)}-{luck.randint(1, 12):02d}-{luck.randint(1, 28):02d}",
        "language": language,
        "tags": luck.sample(_TAGS, 3),
        "site": "The Gazette",
    }
    year, rest = values["published"][:4], values["published"][4:]
    values["modified"] = f"{int(year) + 1}{rest}"
    return Facts(values, language, luck)


def _money(facts: Facts) -> str:
    amount = facts.values["price"]
    text = f"{amount:,.2f}"
    sign = {"EUR": "€", "USD": "$", "GBP": "£"}[facts.values["currency"]]
    if facts.language == "en":
        return f"{sign}{text}"
    text = text.replace(",", " " if facts.language == "fr" else "_").replace(".", ",").replace("_", ".")
    return f"{text} {sign}"


def _day(iso: str, language: str) -> str:
    year, month, day = iso.split("-")
    name = _MONTHS[language][int(month) - 1]
    return {"en": f"{name} {int(day)}, {year}", "de": f"{int(day)}. {name} {year}", "fr": f"{int(day)} {name} {year}"}[
        language
    ]


def _around(facts: Facts, head: str, body: str) -> str:
    noise = '<div class="related"><div class="item"><a href="/x">Another thing</a> <span class="price">1,00 €</span></div><div class="price">2,00 €</div></div>'
    return (
        f'<!doctype html><html lang="{facts.language}"><head><meta charset="utf-8"><title>{facts.values["title"]} - The Gazette</title>{head}</head><body>'
        f'<nav><a href="/">Start</a></nav>{body}{noise}<footer>© 2026</footer></body></html>'
    )


def _chosen(facts: Facts, names: tuple[str, ...]) -> dict[str, Any]:
    """Some of the facts: no page says everything."""
    left_out = set(facts.luck.sample([name for name in names if name not in ("title", "language")], 2))
    return {name: facts.values[name] for name in names if name not in left_out}


def _said(told: dict[str, Any]) -> dict[str, Any]:
    return {**told, "language": told.get("language")}


def product_json_ld(facts: Facts) -> Case:
    told = _chosen(facts, PRODUCT)
    about: dict[str, Any] = {"@context": "https://schema.org", "@type": "Product", "name": told["title"]}
    offer = {"@type": "Offer"}
    for name, key in (("price", "price"), ("currency", "priceCurrency"), ("availability", "availability")):
        if name in told:
            offer[key] = f"https://schema.org/{told[name]}" if name == "availability" else str(told[name])
    rating = {
        key: told[name] for name, key in (("rating", "ratingValue"), ("review_count", "reviewCount")) if name in told
    }
    about |= {"offers": offer, **({"aggregateRating": {"@type": "AggregateRating", **rating}} if rating else {})}
    about |= {key: told[key] for key in ("sku", "image", "description", "category") if key in told}
    if "brand" in told:
        about["brand"] = {"@type": "Brand", "name": told["brand"]}
    graph = facts.luck.choice((about, [about], {"@graph": [{"@type": "WebSite", "name": "x"}, about]}))
    return Case(
        "JSON-LD",
        _around(facts, f'<script type="application/ld+json">{json.dumps(graph)}</script>', f"<h1>{told['title']}</h1>"),
        told,
    )


def product_microdata(facts: Facts) -> Case:
    told = _chosen(facts, PRODUCT)
    if "price" in told:
        told["currency"] = facts.values["currency"]  # its sign stands beside the price
    parts = [f'<h1 itemprop="name">{told["title"]}</h1>']
    offer = ""
    if "price" in told:
        offer += f'<span itemprop="price" content="{told["price"]}">{_money(facts)}</span>'
    if "currency" in told:
        offer += f'<meta itemprop="priceCurrency" content="{told["currency"]}">'
    if "availability" in told:
        offer += f'<link itemprop="availability" href="http://schema.org/{told["availability"]}">'
    parts.append(f'<div itemprop="offers" itemscope itemtype="http://schema.org/Offer">{offer}</div>')
    rated = "".join(
        f'<span itemprop="{key}">{told[name]}</span>'
        for name, key in (("rating", "ratingValue"), ("review_count", "reviewCount"))
        if name in told
    )
    parts.append(
        f'<div itemprop="aggregateRating" itemscope itemtype="http://schema.org/AggregateRating">{rated}</div>'
        if rated
        else ""
    )
    parts += [
        f'<span itemprop="{key}">{escape(str(told[key]))}</span>'
        for key in ("sku", "brand", "description", "category")
        if key in told
    ]
    if "image" in told:
        parts.append(f'<img itemprop="image" src="{told["image"]}">')
    return Case(
        "microdata",
        _around(facts, "", f'<div itemscope itemtype="http://schema.org/Product">{"".join(parts)}</div>'),
        told,
    )


def product_open_graph(facts: Facts) -> Case:
    told = _chosen(facts, ("title", "price", "currency", "availability", "sku", "brand", "image", "description"))
    keys = {
        "title": "og:title",
        "price": "product:price:amount",
        "currency": "product:price:currency",
        "availability": "product:availability",
        "sku": "product:retailer_item_id",
    }
    keys |= {"brand": "product:brand", "image": "og:image", "description": "og:description"}
    shown = {
        **told,
        **(
            {"availability": {"InStock": "in stock", "OutOfStock": "out of stock"}[told["availability"]]}
            if "availability" in told
            else {}
        ),
    }
    head = "".join(f'<meta property="{keys[name]}" content="{escape(str(value))}">' for name, value in shown.items())
    return Case("OpenGraph", _around(facts, head, "<div>The thing</div>"), told)


def product_plain(facts: Facts) -> Case:
    told = _chosen(facts, tuple(name for name in PRODUCT if name not in ("description", "currency")))
    if "price" in told:
        told["currency"] = facts.values["currency"]
    words: dict[str, Any] = _WORDS[facts.language]
    parts = [f"<h1>{told['title']}</h1>"]
    if "image" in told:
        parts.append(f'<img src="{told["image"]}" width="600">')
    if "price" in told:
        parts.append(
            facts.luck.choice(
                ('<div class="price">{}</div>', '<span class="product-price"><b>{}</b></span>', '<p id="price">{}</p>')
            ).format(_money(facts))
        )
    if "availability" in told:
        parts.append(f'<span class="stock">{words["stock"][told["availability"] != "InStock"]}</span>')
    if "rating" in told:
        rating = str(told["rating"]).replace(".", "." if facts.language == "en" else ",")
        parts.append(f'<span class="stars" aria-label="{rating} {words["of"]} 5"></span>')
    if "review_count" in told:
        parts.append(f'<a class="reviews" href="#r">{told["review_count"]} {words["reviews"]}</a>')
    if "brand" in told:
        parts.append(f"<table><tr><th>{words['brand']}</th><td>{told['brand']}</td></tr></table>")
    if "sku" in told:
        parts.append(f"<p>{words['sku']}: {told['sku']}</p>")
    if "category" in told:
        parts.insert(0, f'<div class="breadcrumb"><a href="/">Home</a> <a href="/c">{told["category"]}</a></div>')
    return Case("nothing for machines", _around(facts, "", f'<div class="product">{"".join(parts)}</div>'), told)


def story_json_ld(facts: Facts) -> Case:
    told = _chosen(facts, STORY)
    keys = {
        "title": "headline",
        "published": "datePublished",
        "modified": "dateModified",
        "description": "description",
        "image": "image",
    }
    about: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": facts.luck.choice(("NewsArticle", "BlogPosting", "Article")),
    }
    about |= {keys[name]: value for name, value in told.items() if name in keys}
    if "author" in told:
        person = {"@type": "Person", "name": told["author"]}
        about["author"] = facts.luck.choice((person, [person], told["author"]))
    if "tags" in told:
        about["keywords"] = facts.luck.choice((told["tags"], ", ".join(told["tags"])))
    if "site" in told:
        about["publisher"] = {"@type": "Organization", "name": told["site"]}
    return Case(
        "JSON-LD",
        _around(
            facts,
            f'<script type="application/ld+json">{json.dumps(about)}</script>',
            f"<h1>{told['title']}</h1><p>Text.</p>",
        ),
        told,
    )


def story_rdfa(facts: Facts) -> Case:
    told = _chosen(facts, ("title", "author", "published", "modified", "description", "image", "language"))
    parts = [f'<h1 property="headline">{told["title"]}</h1>']
    if "author" in told:
        parts.append(f'<span property="author" typeof="Person"><span property="name">{told["author"]}</span></span>')
    for name, key in (("published", "datePublished"), ("modified", "dateModified")):
        if name in told:
            parts.append(f'<time property="{key}" datetime="{told[name]}">{_day(told[name], facts.language)}</time>')
    if "description" in told:
        parts.append(f'<p property="description">{told["description"]}</p>')
    if "image" in told:
        parts.append(f'<img property="image" src="{told["image"]}">')
    return Case(
        "RDFa", _around(facts, "", f'<div vocab="http://schema.org/" typeof="Article">{"".join(parts)}</div>'), told
    )


def story_metas(facts: Facts) -> Case:
    told = _chosen(facts, STORY)
    keys = {
        "title": "og:title",
        "author": "author",
        "published": "article:published_time",
        "modified": "article:modified_time",
    }
    keys |= {"description": "description", "image": "og:image", "site": "og:site_name"}
    head = "".join(
        f'<meta {"name" if key in ("author", "description") else "property"}="{key}" content="{escape(str(told[name]))}">'
        for name, key in keys.items()
        if name in told
    )
    head += "".join(f'<meta property="article:tag" content="{tag}">' for tag in told.get("tags", ()))
    return Case("meta and OpenGraph", _around(facts, head, "<div><p>Text.</p></div>"), told)


def story_plain(facts: Facts) -> Case:
    told = _chosen(facts, ("title", "author", "published", "modified", "image", "language", "tags"))
    words: dict[str, Any] = _WORDS[facts.language]
    parts = [f"<h1>{told['title']}</h1>"]
    byline = f"{words['by']} {told['author']}" if "author" in told else ""
    day = _day(told["published"], facts.language) if "published" in told else ""
    parts.append(
        facts.luck.choice(
            (
                f'<div class="byline">{byline}</div><div class="date">{day}</div>',
                f'<p class="author">{byline}</p><p class="published">{day}</p>',
                f'<div class="meta"><span class="author-name">{byline}</span> | <span class="post-date">{day}</span></div>',
            )
        )
    )
    if "image" in told:
        parts.append(f'<img src="{told["image"]}" width="800" height="500">')
    parts.append("<p>Text of the story, long enough to be one.</p>")
    if "modified" in told:
        parts.append(f"<p>{words['updated']} {_day(told['modified'], facts.language)}</p>")
    if "tags" in told:
        parts.append('<div class="tags">' + "".join(f'<a href="/t/{tag}">{tag}</a>' for tag in told["tags"]) + "</div>")
    return Case("nothing for machines", _around(facts, "", f"<article>{''.join(parts)}</article>"), told)


STYLES: tuple[tuple[tuple[str, ...], Callable[[Facts], Case]], ...] = (
    *((PRODUCT, style) for style in (product_json_ld, product_microdata, product_open_graph, product_plain)),
    *((STORY, style) for style in (story_json_ld, story_rdfa, story_metas, story_plain)),
)


class Tally(NamedTuple):
    """Of one name: values that were right, values that were wrong or made up, values that were overlooked."""

    right: int = 0
    wrong: int = 0
    overlooked: int = 0

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.overlooked) if self.right + self.overlooked else 1.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def measure() -> tuple[dict[str, Tally], dict[str, Tally], list[str]]:
    """By name, by style, and what went wrong."""
    names: dict[str, Tally] = defaultdict(Tally)
    styles: dict[str, Tally] = defaultdict(Tally)
    wrong: list[str] = []
    for wanted, style in STYLES:
        wants = Wants.of(Spec(text="none", fields=fields_of(wanted)))
        for seed in SEEDS:
            case = style(_facts(seed))
            found = extract(case.html.encode(), "text/html; charset=utf-8", wants, URL.format(seed)).data["fields"]
            for name in wanted:
                tally = _compared(found[name], case.truth.get(name) if name != "language" else _facts(seed).language)
                names[name] = _added(names[name], tally)
                styles[case.style] = _added(styles[case.style], tally)
                if tally.wrong or tally.overlooked:
                    wrong.append(f"{style.__name__} {seed} {name}: {found[name]!r} for {case.truth.get(name)!r}")
    return dict(names), dict(styles), wrong


def _compared(found: Any, truth: Any) -> Tally:
    if truth is None:
        return Tally(wrong=found is not None)
    if found is None:
        return Tally(overlooked=1)
    same = sorted(found) == sorted(truth) if isinstance(truth, list) else found == truth
    return Tally(right=1) if same else Tally(wrong=1, overlooked=1)


def _added(first: Tally, second: Tally) -> Tally:
    return Tally(first.right + second.right, first.wrong + second.wrong, first.overlooked + second.overlooked)
