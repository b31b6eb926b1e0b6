"""Where people see a value on a page that says nothing for machines: bylines, prices, stars, labels."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from turbohtml import Document, Element

from tarantella.domain.dates import NotADate, parse_date
from tarantella.domain.numbers import NotANumber, parse_currency, parse_price
from tarantella.extractors.selectors import absolute, text_of
from tarantella.extractors.subject import Subject

MOST_LOOKED_AT = 300
MOST_SCANNED = 2_000


class Sighting(NamedTuple):
    """A raw value and where it was seen."""

    value: Any
    source: str


_ELSEWHERE = (
    'nav, footer, aside, [class*="related" i], [class*="recommend" i], [class*="carousel" i], [class*="sidebar" i], '
    '[class*="minicart" i], [class*="mini-cart" i], [id*="cart" i], [class*="comment" i], [id*="comment" i], [class*="upsell" i], '
    '[class*="cross-sell" i], [class*="also-" i], [class*="teaser" i], [class*="similar" i], [class*="newsletter" i], '
    '[class*="trending" i], [class*="most-read" i], [class*="popular" i], [hidden], [aria-hidden="true"]'
)
_DASHES = re.compile(r"\s+[|–—·»•]\s+|\s+[-:]{1,2}\s+|\s*\|\s*")


def _seen(html: Document, selector: str) -> Iterator[Element]:
    """What a selector finds where the page speaks of its own subject, in order."""
    for element in html.select(selector)[:MOST_LOOKED_AT]:
        if element.closest(_ELSEWHERE) is None:
            yield element


def _short(html: Document, selector: str, most: int) -> Iterator[tuple[Element, str]]:
    """What a selector finds that has a few words, with them; where it stands is for the caller to ask, because that takes longer."""
    for element in html.select(selector)[:MOST_SCANNED]:
        text = element.text
        if len(text) <= most * 2:
            text = " ".join(text.split())
            if 0 < len(text) <= most:
                yield element, text


def _is_here(element: Element) -> bool:
    """Whether it stands where the page speaks of its own subject."""
    return element.closest(_ELSEWHERE) is None


def _heading(html: Document) -> Element | None:
    return next((h1 for h1 in html.select("h1")[:10] if h1.closest("nav, footer, aside") is None and text_of(h1)), None)


# --- title ---------------------------------------------------------------------------------------------------------------


def title(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    html = subject.tree
    heading = _heading(html)
    said = text_of(heading) if heading is not None else ""
    element = html.find("title")
    whole = " ".join(element.text.split()) if element is not None else ""
    if said and (not whole or _same(said) in _same(whole) or len(html.select("h1")) == 1):
        yield Sighting(said, "h1")
    if whole:
        yield Sighting(without_site(whole, subject), "title")
    elif said:
        yield Sighting(said, "h1")


def without_site(text: str, subject: Subject) -> str:
    """A title without the name of its site before or behind it."""
    parts = [part for part in _DASHES.split(text) if part.strip()]
    if len(parts) < 2:
        return text
    site = subject.structure.meta("og:site_name", "application-name")
    name = _same(site[0]) if site else ""
    host = _same(re.sub(r"^[a-z]+://(?:www\.)?|[:/?#].*$", "", subject.page_url))
    for at in (-1, 0):
        part = _same(parts[at])
        if part and (
            part == name or (len(part) > 3 and part in host) or (len(part.split()) <= 5 and name and name in part)
        ):
            mark = parts[at]
            trimmed = text[: text.rfind(mark)] if at else text[text.find(mark) + len(mark) :]
            return trimmed.strip(" \t|–—·»•-:") or text
    return text


def _same(text: str) -> str:
    """The letters of a text, to compare by."""
    return "".join(char for char in unicodedata.normalize("NFKD", text).casefold() if char.isalnum())


# --- people and days -----------------------------------------------------------------------------------------------------

_BY = re.compile(
    r"^\s*(?:(?:written|posted|published|words|story|report(?:ed)?|text|review(?:ed)?)\s+)?(?:by|von|par|por|di|da|door|av|af|przez|"
    r"autore?|author|auteur|autor(?:in)?|автор|作者|記者|文)\b\s*[:：]?\s*|^\s*(?:作者|記者|文|автор)\s*[:：]\s*",
    re.IGNORECASE,
)
_AFTER_NAME = re.compile(
    r"\s*(?:[|•·–—/]|,\s*(?=\d)|\bon\b\s|\bam\b\s|\ble\b\s|\bpublished\b|\bupdated\b|\bposted\b|\d{1,2}[.:/ ]|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\().*$",
    re.IGNORECASE | re.DOTALL,
)
_NO_NAME = re.compile(
    r"@|https?:|\d{2}|^(?:share|follow|about|more|read|subscribe|comments?|advertisement|home|by|admin)\b",
    re.IGNORECASE,
)
_BYLINES = (
    '[rel~="author"], [itemprop~="author"], .byline, .author, .author-name, .byline__name, .post-author, .entry-author, '
    '.article-author, .vcard .fn, [class*="byline" i], [class*="author" i], [class*="autor" i], [data-author]'
)


def author(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    for element, text in _short(subject.tree, _BYLINES, 150):
        name = person(element.attr("data-author") or text)
        if name is not None and _is_here(element):
            yield Sighting(name, f"byline {_place(element)}")
    for element, text in _short(subject.tree, "p, span, div, address, small, em, i, td", 120):
        if _BY.match(text) and (name := person(text)) is not None and _is_here(element):
            yield Sighting(name, "byline in the text")
            return


def person(raw: str) -> str | None:
    """The name in a byline, or None where it is no name."""
    raw = " ".join(raw.split())
    if not raw or len(raw) > 150:
        return None
    name = _AFTER_NAME.sub("", _BY.sub("", raw, count=1)).strip(" ,;:|-–—·•")
    words = name.split()
    if not 1 <= len(words) <= 10 or len(name) > 80 or len(name) < 3 or _NO_NAME.search(name):
        return None
    return name if any(char.isalpha() for char in name) and not name.islower() else None


_TIMES = (
    'time[itemprop~="datePublished"], time[pubdate], time.published, time.entry-date, time[class*="publish" i], '
    '[itemprop~="datePublished"], abbr.published, time[datetime]'
)
_DAYS = (
    '[class*="publish" i], [class*="pubdate" i], [class*="date" i], [class*="datum" i], [class*="fecha" i], [class*="posted" i], '
    '[class*="timestamp" i], [class*="time" i], [id*="date" i], [class*="meta" i], [class*="byline" i], time'
)
_UPDATED = re.compile(r"updat|modif|aktualis|mis à jour|actualiz|aggiorn|bijgewerkt", re.IGNORECASE)
_UPDATED_WORD = re.compile(
    r"(?:last\s+)?(?:updated|modified|edited)|aktualisiert|zuletzt geändert|mise? à jour|actualizado|aggiornato|bijgewerkt|uppdaterad",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_DAY_IN_ADDRESS = re.compile(r"/((?:19|20)\d{2})[/-]?(0[1-9]|1[0-2])[/-]?(0[1-9]|[12]\d|3[01])(?:[/._-]|$)")


def published(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    html = subject.tree
    for element in _seen(html, _TIMES):
        raw = element.attr("datetime") or element.attr("content") or element.attr("title") or text_of(element)
        if raw and not _marks_update(element) and _is_day(raw, subject):
            yield Sighting(raw, f"time {_place(element)}")
    for element, text in _short(html, _DAYS, 200):
        if not _says_updated(text) and not _marks_update(element) and _is_day(text, subject) and _is_here(element):
            yield Sighting(text, f"date {_place(element)}")
    if found := _DAY_IN_ADDRESS.search(subject.page_url):
        yield Sighting(f"{found[1]}-{found[2]}-{found[3]}", "address")
    for element, text in _short(html, "p, span, div, td, li, small, em, i, b, font, center", 80):
        if not _says_updated(text) and not _marks_update(element) and _is_day(text, subject) and _is_here(element):
            yield Sighting(text, "date in the text")
            return


def _marks_update(element: Element) -> bool:
    """Whether the markup says that a date is that of a change."""
    names = (element.attr("class"), element.attr("itemprop"), element.attr("property"))
    return any(name and _UPDATED.search(name) for name in names)


def _says_updated(text: str) -> bool:
    """Whether a date is that of a change; in a longer line, another one may stand before it."""
    found = _UPDATED_WORD.search(text)
    return found is not None and not _DIGIT.search(text[: found.start()])


def modified(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    html = subject.tree
    places = (
        'time[itemprop~="dateModified"], [itemprop~="dateModified"], time[class*="updat" i], time[class*="modif" i]'
    )
    for element in _seen(html, places):
        raw = element.attr("datetime") or element.attr("content") or text_of(element)
        if raw and _is_day(raw, subject):
            yield Sighting(raw, f"time {_place(element)}")
    for element, text in _short(html, "p, span, div, time, small, em, i, li", 200):
        found = _UPDATED_WORD.search(text)
        if found and _is_day(raw := text[found.end() :], subject) and _is_here(element):
            yield Sighting(element.attr("datetime") or raw.strip(), f"date {_place(element)}")


def _is_day(raw: str, subject: Subject) -> bool:
    if not _DIGIT.search(raw):
        return False
    try:
        parse_date(raw, subject.locale)
    except NotADate:
        return False
    return True


# --- goods ---------------------------------------------------------------------------------------------------------------

_PRICES = (
    '[itemprop~="price"], [data-price], [data-product-price], [class*="price" i], [id*="price" i], [class*="preis" i], '
    '[class*="prix" i], [class*="precio" i], [class*="prezzo" i], [class*="amount" i]'
)
_NOT_THE_PRICE = re.compile(
    r"old|was\b|regular|compare|list-?price|before|rrp|msrp|shipping|unit|original|save|saving|discount|strike|crossed|alt-?preis|"
    r"uvp|streich|per-|installment|monthly|delivery|versand|range|filter|label|tax|vat",
    re.IGNORECASE,
)


def prices(subject: Subject) -> list[tuple[Any, Element]]:
    """The price that stands with the heading; or the only few that there are."""
    assert subject.tree is not None
    html = subject.tree
    found: list[tuple[Any, Element]] = []
    for element in _seen(html, _PRICES):
        raw = element.attr("content") or element.attr("data-price") or element.attr("data-product-price") or ""
        text = raw or (text_of(element) if len(element.text) <= 80 else "")
        own = f"{element.attr('class') or ''} {element.attr('id') or ''}"
        if not text or _NOT_THE_PRICE.search(own) or element.closest("del, s, strike") is not None:
            continue
        if element.find("del") is not None or element.find("s") is not None:
            continue
        try:
            parse_price(text, subject.locale)
        except NotANumber:
            continue
        if raw or _currency_of(text, subject) or element.attr("itemprop"):
            found.append((text, element))
    heading = _heading(html)
    if heading is not None and len(found) > 1:
        near: Any = heading
        for _ in range(6):
            near = near.parent
            if near is None or not isinstance(near, Element):
                break
            inside = [each for each in found if near in each[1].ancestors]
            if inside:
                return inside if len(inside) <= 6 else []
    return found if len(found) <= 3 else []


def price(subject: Subject) -> Iterator[Sighting]:
    for text, element in prices(subject):
        yield Sighting(text, f"price {_place(element)}")


def currency(subject: Subject) -> Iterator[Sighting]:
    for text, element in prices(subject):
        for raw in (text, text_of(element), text_of(element.parent) if isinstance(element.parent, Element) else ""):
            if found := _currency_of(raw[:200], subject):
                yield Sighting(found, f"price {_place(element)}")
                return


def _currency_of(text: str, subject: Subject) -> str | None:
    try:
        return parse_currency(text, subject.locale)
    except NotANumber:
        return None


_STOCK: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (term, re.compile(words, re.IGNORECASE))
    for term, words in (
        (
            "OutOfStock",
            r"out[\s_-]*of[\s_-]*stock|sold[\s_-]*out|unavailable|not available|nicht (?:auf lager|lieferbar|verfügbar|vorrätig)|ausverkauft|"
            r"vergriffen|rupture|épuisé|indisponible|agotado|sin existencias|esaurito|non disponibile|uitverkocht|esgotado|slutsåld|wyprzedany|niedostępny",
        ),
        ("PreOrder", r"pre[\s_-]?order|vorbestell|précommande|reserva anticipada|preordine"),
        ("BackOrder", r"back[\s_-]?order"),
        ("Discontinued", r"discontinued|nicht mehr lieferbar"),
        ("LimitedAvailability", r"limited[\s_-]*availability|only \d+ left|nur noch \d+|plus que \d+"),
        (
            "InStock",
            r"in[\s_-]*stock|\bavailable\b|auf lager|lieferbar|verfügbar|vorrätig|en stock|disponible|disponibile|op voorraad|em estoque|i lager|dostępny|na skladě",
        ),
    )
)


def stock_term(text: str) -> str | None:
    """The word of schema.org for what is said of a stock."""
    text = text[:300]
    if found := re.search(
        r"(?:InStock|OutOfStock|PreOrder|PreSale|BackOrder|SoldOut|Discontinued|InStoreOnly|OnlineOnly|LimitedAvailability|MadeToOrder|Reserved)\b",
        text,
    ):
        return found[0]
    return next((term for term, words in _STOCK if words.search(text)), None)


def availability(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    places = '[itemprop~="availability"], [class*="stock" i], [class*="availab" i], [id*="availab" i], [class*="verfueg" i], [class*="lieferbar" i], [class*="inventory" i]'
    for element in _seen(subject.tree, places):
        raw = element.attr("href") or element.attr("content") or (text_of(element) if len(element.text) <= 150 else "")
        if raw and (term := stock_term(raw)):
            yield Sighting(term, f"stock {_place(element)}")
    for element, text in _short(subject.tree, "p, span, div, li, td, b, strong, button", 40):
        if (term := stock_term(text)) and _is_here(element):
            yield Sighting(term, "stock in the text")
            return


_OUT_OF = re.compile(r"(\d(?:[.,]\d+)?)\s*(?:/|out of|von|sur|de|di|van|av|z|из)\s*(?:5|10|100)\b", re.IGNORECASE)
_STARS = re.compile(r"[★⭐]{1,5}[☆✩]{0,4}")


def rating(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    places = '[itemprop~="ratingValue"], [data-rating], [data-score], [class*="rating" i], [class*="stars" i], [class*="score" i], [class*="bewertung" i]'
    for element in _seen(subject.tree, places):
        source = f"rating {_place(element)}"
        if raw := element.attr("content") or element.attr("data-rating") or element.attr("data-score"):
            yield Sighting(raw, source)
        said = " ".join(filter(None, (element.attr("aria-label"), element.attr("title"), element.attr("alt"))))
        text = text_of(element) if len(element.text) <= 120 else ""
        for each in (said, text):
            if found := _OUT_OF.search(each):
                yield Sighting(found[1].replace(",", "."), source)
            elif each and (found := _STARS.search(each)):
                yield Sighting(str(sum(found[0].count(star) for star in "★⭐")), source)
        if element.attr("itemprop") and text:
            yield Sighting(text.replace(",", "."), source)
        elif re.fullmatch(r"\s*[0-5](?:[.,]\d{1,2})?\s*", text):
            yield Sighting(text.strip().replace(",", "."), source)


_REVIEWS = re.compile(
    r"(\d[\d.,\s]*)\s*(?:customer\s+|verified\s+|global\s+)?(?:reviews?|ratings?|bewertungen|rezensionen|avis|opiniones|valoraciones|recensioni|beoordelingen|omdömen|opinii|avaliações)",
    re.IGNORECASE,
)


def review_count(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    for element in _seen(
        subject.tree,
        '[itemprop~="reviewCount"], [itemprop~="ratingCount"], [class*="review" i], [class*="rating" i], [class*="bewertung" i], a[href*="review" i]',
    ):
        if raw := element.attr("content"):
            yield Sighting(raw, f"reviews {_place(element)}")
        text = text_of(element) if len(element.text) <= 150 else ""
        if found := _REVIEWS.search(text):
            yield Sighting(found[1].strip(), f"reviews {_place(element)}")
        elif found := re.search(r"\((\d[\d.,]*)\)", text):
            yield Sighting(found[1], f"reviews {_place(element)}")


# --- what has its name written beside it ---------------------------------------------------------------------------------

LABELS: Mapping[str, str] = {
    "sku": r"sku|item\s*(?:no|number|#|code)|article\s*(?:no|number)|art(?:ikel)?\.?[\s-]*(?:nr|nummer|no)|product\s*(?:code|number|id)|stock code|"
    r"produktnummer|bestell(?:-?nr|nummer)|réf(?:érence)?|ref(?:erencia|erence)?|codice(?: articolo)?|artikelcode|model(?: number| no)?",
    "brand": r"brand|marke|marque|marca|merk|märke|hersteller|manufacturer|fabricant|fabricante|produttore|marka|varumärke",
    "gtin": r"gtin(?:-?\d+)?|ean(?:-?13)?|upc|barcode",
    "isbn": r"isbn(?:-?1[03])?",
    "mpn": r"mpn|manufacturer part(?: number)?|part number|herstellernummer",
    "color": r"colou?r|farbe|couleur|colore|kleur|färg",
    "size": r"size|größe|taille|talla|taglia|maat|storlek",
    "material": r"material|matière|materiale|materiaal",
    "weight": r"weight|gewicht|poids|peso|vikt",
    "condition": r"condition|zustand|état|estado|condizione|staat|skick",
    "category": r"category|categories|kategorie|catégorie|categoría|categoria|categorie",
    "author": r"author|autor(?:in)?|auteur|autore",
}


def labelled(words: str) -> Callable[[Subject], Iterator[Sighting]]:
    """What stands beside or behind a label with one of these words."""
    alone = re.compile(rf"\s*(?:{words})\s*[:：#.]*\s*", re.IGNORECASE)
    before = re.compile(rf"^\s*(?:{words})\s*\.?\s*(?:[:：#]|\s-\s)\s*(\S.{{0,200}})$", re.IGNORECASE)

    def look(subject: Subject) -> Iterator[Sighting]:
        assert subject.tree is not None
        for label, text in _short(subject.tree, "th, dt, td:first-child, strong, b, label, span, .label", 60):
            if alone.fullmatch(text) and _is_here(label) and (value := _beside(label)):
                yield Sighting(value, f"label {text.rstrip(':')}")
        for element, text in _short(subject.tree, "li, p, span, div, td, small", 260):
            if (found := before.match(text)) and len(element) <= 6 and _is_here(element):
                yield Sighting(found[1].strip(), "label in the text")

    return look


def _beside(label: Element) -> str | None:
    """The text next to a label: the next cell, or what follows it in the same line."""
    sibling = label.next_sibling
    for _ in range(4):
        if sibling is None:
            break
        text = text_of(sibling) if isinstance(sibling, Element) else " ".join(sibling.text.split())
        text = text.strip(" :：")
        if text:
            return text if len(text) <= 200 else None
        sibling = sibling.next_sibling
    return None


# --- pictures, words, ways -----------------------------------------------------------------------------------------------

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
        for element in _seen(html, selector):
            raw = element.attr("data-src") or element.attr("src") or element.attr("href") or element.attr("content")
            small = any(
                (element.attr(side) or "999").isdigit() and int(element.attr(side) or 999) < 100
                for side in ("width", "height")
            )
            if raw and not small and not _NO_PICTURE.search(raw):
                yield Sighting(raw, f"image {_place(element)}")


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
        heading = _heading(subject.tree) if subject.tree is not None else None
        ways = [way for way in ways if heading is None or _same(way) != _same(text_of(heading))]
        if ways:
            yield Sighting(ways[-1], "breadcrumb")


def description(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    for element in _seen(
        subject.tree,
        '.standfirst, .lead, .lede, .dek, .subtitle, .subheadline, [class*="standfirst" i], [class*="subhead" i], [itemprop~="description"], .product-description, #description',
    ):
        text = text_of(element)
        if 20 <= len(text) <= 2_000:
            yield Sighting(text, f"lead {_place(element)}")


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
        for element in _seen(subject.tree, places):
            value = (
                element.attr(f"data-{dashed}")
                or element.attr("content")
                or (text_of(element) if len(element.text) <= 2_000 else "")
            )
            if value:
                yield Sighting(value, f"element {_place(element)}")

    return look


def _place(element: Element) -> str:
    """An element in a few letters."""
    own = element.attr("id")
    if own:
        return f"{element.tag}#{own[:40]}"
    first = (element.attr("class") or "").split()
    return f"{element.tag}.{first[0][:40]}" if first else element.tag
