"""Where people see a value on a page that says nothing for machines: bylines, prices, stars, labels."""

from __future__ import annotations

from tarantella.extractors.sightings.byline import author, modified, person, published
from tarantella.extractors.sightings.goods import availability, currency, price, rating, review_count, stock_term
from tarantella.extractors.sightings.labels import LABELS, labelled
from tarantella.extractors.sightings.looking import Sighting
from tarantella.extractors.sightings.surroundings import (
    breadcrumbs,
    called,
    category,
    description,
    email,
    image,
    links,
    phone,
    tags,
)
from tarantella.extractors.sightings.title import letters, title, without_site

__all__ = [
    "LABELS",
    "Sighting",
    "author",
    "availability",
    "breadcrumbs",
    "called",
    "category",
    "currency",
    "description",
    "email",
    "image",
    "labelled",
    "letters",
    "links",
    "modified",
    "person",
    "phone",
    "price",
    "published",
    "rating",
    "review_count",
    "stock_term",
    "tags",
    "title",
    "without_site",
]
