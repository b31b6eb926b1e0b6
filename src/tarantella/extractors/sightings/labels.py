"""Values that have their name written beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from turbohtml import Element

from tarantella.extractors.selectors import text_of
from tarantella.extractors.sightings.looking import Sighting, is_here, short
from tarantella.extractors.subject import Subject

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
        for label, text in short(subject.tree, "th, dt, td:first-child, strong, b, label, span, .label", 60):
            if alone.fullmatch(text) and is_here(label) and (value := _beside(label)):
                yield Sighting(value, f"label {text.rstrip(':')}")
        for element, text in short(subject.tree, "li, p, span, div, td, small", 260):
            if (found := before.match(text)) and len(element) <= 6 and is_here(element):
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
