"""What is for sale: its price, whether it is there, and what people think of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from turbohtml import Element

from tarantella.domain.numbers import NotANumber, parse_currency, parse_price
from tarantella.extractors.selectors import text_of
from tarantella.extractors.sightings.looking import Sighting, is_here, main_heading, place_of, short, visible
from tarantella.extractors.subject import Subject

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
    for element in visible(html, _PRICES):
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
    heading = main_heading(html)
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
        yield Sighting(text, f"price {place_of(element)}")


def currency(subject: Subject) -> Iterator[Sighting]:
    for text, element in prices(subject):
        for raw in (text, text_of(element), text_of(element.parent) if isinstance(element.parent, Element) else ""):
            if found := _currency_of(raw[:200], subject):
                yield Sighting(found, f"price {place_of(element)}")
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
    for element in visible(subject.tree, places):
        raw = element.attr("href") or element.attr("content") or (text_of(element) if len(element.text) <= 150 else "")
        if raw and (term := stock_term(raw)):
            yield Sighting(term, f"stock {place_of(element)}")
    for element, text in short(subject.tree, "p, span, div, li, td, b, strong, button", 40):
        if (term := stock_term(text)) and is_here(element):
            yield Sighting(term, "stock in the text")
            return


_OUT_OF = re.compile(r"(\d(?:[.,]\d+)?)\s*(?:/|out of|von|sur|de|di|van|av|z|из)\s*(?:5|10|100)\b", re.IGNORECASE)
_STARS = re.compile(r"[★⭐]{1,5}[☆✩]{0,4}")


def rating(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    places = '[itemprop~="ratingValue"], [data-rating], [data-score], [class*="rating" i], [class*="stars" i], [class*="score" i], [class*="bewertung" i]'
    for element in visible(subject.tree, places):
        source = f"rating {place_of(element)}"
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
    for element in visible(
        subject.tree,
        '[itemprop~="reviewCount"], [itemprop~="ratingCount"], [class*="review" i], [class*="rating" i], [class*="bewertung" i], a[href*="review" i]',
    ):
        if raw := element.attr("content"):
            yield Sighting(raw, f"reviews {place_of(element)}")
        text = text_of(element) if len(element.text) <= 150 else ""
        if found := _REVIEWS.search(text):
            yield Sighting(found[1].strip(), f"reviews {place_of(element)}")
        elif found := re.search(r"\((\d[\d.,]*)\)", text):
            yield Sighting(found[1], f"reviews {place_of(element)}")
