"""What the name of a field means, and where a page says it: first for machines, then for people."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tarantella.domain.struct import Frozen
from tarantella.extractors import sightings as seen
from tarantella.extractors.own_things import main_things
from tarantella.extractors.sightings import LABELS, Sighting, labelled, stock_term
from tarantella.extractors.structured import ARTICLE, OTHER, PAGE, PRODUCT, values_at
from tarantella.extractors.subject import Subject

Look = Callable[[Subject], Iterator[Sighting]]


class Rule(Frozen):
    """Where a name is looked for, in this order: things for machines, names in the head, what people see."""

    type: str | None = None
    paths: tuple[tuple[frozenset[str] | None, tuple[str, ...]], ...] = ()  # of things of these kinds; None is all kinds
    metas: tuple[str, ...] = ()
    look: tuple[Look, ...] = ()
    many: bool = False
    joined: bool = False  # several are one text, unless a list is wanted
    first: tuple[Look, ...] = ()  # what is asked before all others
    clean: Callable[[Any, Subject], Any] | None = None
    doubtful: Callable[[Any, Subject], bool] | None = None  # to be taken only where nothing better is seen


def _article_of(part: str) -> Look:
    def look(subject: Subject) -> Iterator[Sighting]:
        value = getattr(subject.article, part)
        if value:
            yield Sighting(value, f"article, {subject.article.by}")

    return look


def _own_language(subject: Subject) -> Iterator[Sighting]:
    if subject.language:
        yield Sighting(subject.language, "html lang")


def _own_address(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    link = subject.tree.select_one('link[rel~="canonical" i][href]')
    if link is not None:
        yield Sighting(link.attr("href"), "link canonical")
    if subject.page_url:
        yield Sighting(subject.page_url, "address")


def _guessed_language(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    from turbohtml.detect import detect_language

    body = subject.tree.find("body")
    text = body.to_text()[:20_000] if body is not None else ""
    if len(text) >= 100 and (found := detect_language(text)).language:
        yield Sighting(_TWO_LETTERS.get(found.language, found.language), "the words themselves")


_TWO_LETTERS: Mapping[str, str] = {
    "eng": "en", "deu": "de", "fra": "fr", "spa": "es", "ita": "it", "por": "pt", "nld": "nl", "pol": "pl", "swe": "sv", "dan": "da",
    "nob": "no", "fin": "fi", "ces": "cs", "slk": "sk", "hun": "hu", "ron": "ro", "tur": "tr", "rus": "ru", "ukr": "uk", "bul": "bg",
    "ell": "el", "ara": "ar", "heb": "he", "cmn": "zh", "jpn": "ja", "kor": "ko", "vie": "vi", "ind": "id", "hin": "hi", "tha": "th",
}  # fmt: skip


def _split_words(value: Any, _: Subject) -> Any:
    return [word.strip() for word in re.split(r"[,;]", value) if word.strip()] if isinstance(value, str) else value


def _stock(value: Any, _: Subject) -> Any:
    return stock_term(value) or value if isinstance(value, str) else value


def _no_address(value: Any, _: Subject) -> Any:
    """A person's page is not the person."""
    if isinstance(value, str):
        return None if value.startswith(("http:", "https:", "/", "@", "#")) else seen.person(value) or None
    return None


def _is_the_site(value: Any, subject: Subject) -> bool:
    """A site that names itself as the author may still name a person where people read it."""
    structure = subject.structure
    names = [name for key in ("og:site_name", "application-name") for name in structure.metas.get(key, ())]
    for thing in main_things(subject, ARTICLE):
        names += [name for name in values_at(thing.properties, "publisher", structure.by_id) if isinstance(name, str)]
    said = seen.letters(str(value))
    host = seen.letters(re.sub(r"^[a-z]+://(?:www\.)?|[:/?#].*$", "", subject.page_url))
    return bool(said) and (said in map(seen.letters, names) or (len(said) > 2 and host.startswith(said)))


def _dotted(value: Any, _: Subject) -> Any:
    """Numbers for machines have a dot, whatever the page's language."""
    if isinstance(value, str) and re.fullmatch(r"\s*\d+(?:\.\d+)?\s*", value):
        return float(value) if "." in value else int(value)
    return value


def _in_title(value: Any, subject: Subject) -> Any:
    return seen.without_site(value, subject) if isinstance(value, str) else value


def _language_tag(value: Any, _: Subject) -> Any:
    return value.strip().replace("_", "-")[:35] if isinstance(value, str) else value


_ANY = ARTICLE | PRODUCT | OTHER
_EVERY = _ANY | PAGE

RULES: Mapping[str, Rule] = {
    "title": Rule(
        paths=((ARTICLE, ("headline", "name")), (PRODUCT | OTHER, ("name", "title"))),
        metas=("og:title", "twitter:title", "dc.title", "dcterms.title", "parsely-title", "sailthru.title"),
        look=(seen.title,),
        clean=_in_title,
    ),
    "name": Rule(
        paths=((PRODUCT | OTHER, ("name", "title")), (ARTICLE, ("headline", "name"))),
        metas=("og:title", "twitter:title", "dc.title"),
        look=(seen.title,),
        clean=_in_title,
    ),
    "text": Rule(first=(_article_of("text"),)),
    "markdown": Rule(first=(_article_of("markdown"),)),
    "author": Rule(
        paths=((ARTICLE, ("author", "creator")), (PRODUCT | OTHER, ("author", "creator")), (PAGE, ("author",))),
        metas=(
            *("author", "article:author", "article:author_name", "dc.creator", "dcterms.creator", "parsely-author"),
            *("sailthru.author", "byl", "byline", "dc.author", "book:author", "twitter:creator"),
        ),
        look=(seen.author, labelled(LABELS["author"])),
        many=True,
        joined=True,
        clean=_no_address,
        doubtful=_is_the_site,
    ),
    "published": Rule(
        "date",
        paths=(
            (ARTICLE, ("datePublished", "dateCreated", "uploadDate")),
            (PRODUCT | OTHER, ("datePublished", "datePosted", "uploadDate", "releaseDate", "startDate")),
            (PAGE, ("datePublished",)),
        ),
        metas=(
            *("article:published_time", "datepublished", "article:published", "og:article:published_time", "og:published_time"),
            *("date", "pubdate", "publishdate", "publish-date", "publish_date", "publication_date", "publicationdate"),
            *("dc.date", "dc.date.issued", "dcterms.date", "dcterms.created", "dcterms.issued", "dc.date.created"),
            *("parsely-pub-date", "sailthru.date", "article.published", "cxenseparse:recs:publishtime", "citation_publication_date"),
        ),
        look=(seen.published,),
    ),
    "modified": Rule(
        "date",
        paths=((ARTICLE, ("dateModified",)), (PRODUCT | OTHER | PAGE, ("dateModified",))),
        metas=(
            *("article:modified_time", "og:updated_time", "datemodified", "article:modified", "last-modified", "lastmod"),
            *("dcterms.modified", "dc.date.modified", "article.updated", "revised", "updated_time"),
        ),
        look=(seen.modified,),
    ),
    "description": Rule(
        paths=((_ANY, ("description", "abstract", "alternativeHeadline")),),
        metas=("og:description", "description", "twitter:description", "dc.description", "dcterms.description", "sailthru.description"),
        look=(seen.description,),
    ),
    "image": Rule(
        "url",
        paths=((_ANY, ("image", "image.url", "thumbnailUrl", "image.contentUrl")), (PAGE, ("primaryImageOfPage", "image"))),
        metas=("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src", "sailthru.image.full", "thumbnail"),
        look=(seen.image,),
    ),
    "language": Rule(
        first=(_own_language,),
        paths=((_EVERY, ("inLanguage",)),),
        metas=("og:locale", "content-language", "language", "dc.language", "dcterms.language"),
        look=(_guessed_language,),
        clean=_language_tag,
    ),
    "links": Rule(look=(seen.links,), many=True),
    "tags": Rule(
        paths=((_EVERY, ("keywords",)),),
        metas=("article:tag", "news_keywords", "keywords", "parsely-tags", "sailthru.tags", "dc.subject", "og:article:tag"),
        look=(seen.tags,),
        many=True,
        clean=_split_words,
    ),
    "category": Rule(
        paths=((ARTICLE, ("articleSection",)), (PRODUCT | OTHER, ("category", "genre"))),
        metas=("article:section", "product:category", "parsely-section", "section", "category"),
        look=(seen.category, labelled(LABELS["category"])),
    ),
    "breadcrumbs": Rule(
        paths=((frozenset({"breadcrumblist"}), ("itemListElement.name", "itemListElement.item")),),
        look=(seen.breadcrumbs,),
        many=True,
    ),
    "price": Rule(
        "price",
        paths=(
            (
                PRODUCT,
                (
                    *("offers.price", "offers.priceSpecification.price", "offers.lowPrice", "offers.offers.price", "price", "lowPrice"),
                    *("hasVariant.offers.price", "priceSpecification.price"),
                ),
            ),
            (OTHER, ("offers.price", "offers.lowPrice", "baseSalary.value.value")),
        ),
        metas=("product:price:amount", "og:price:amount", "product:sale_price:amount", "price", "twitter:data1"),
        look=(seen.price,),
        clean=_dotted,
    ),
    "currency": Rule(
        "currency",
        paths=(
            (
                PRODUCT,
                (
                    *("offers.priceCurrency", "offers.priceSpecification.priceCurrency", "offers.offers.priceCurrency"),
                    *("priceCurrency", "hasVariant.offers.priceCurrency"),
                ),
            ),
            (OTHER, ("offers.priceCurrency", "baseSalary.currency")),
        ),
        metas=("product:price:currency", "og:price:currency", "product:sale_price:currency", "pricecurrency"),
        look=(seen.currency,),
    ),
    "availability": Rule(
        paths=((PRODUCT | OTHER, ("offers.availability", "offers.offers.availability", "availability", "hasVariant.offers.availability")),),
        metas=("product:availability", "og:availability", "availability"),
        look=(seen.availability,),
        clean=_stock,
    ),
    "condition": Rule(
        paths=((PRODUCT, ("offers.itemCondition", "itemCondition")),),
        metas=("product:condition", "og:condition"),
        look=(labelled(LABELS["condition"]),),
        clean=lambda value, _: re.split(r"[/#]", value)[-1] if isinstance(value, str) and "schema.org" in value else value,
    ),
    "rating": Rule(
        "number",
        paths=((_ANY, ("aggregateRating.ratingValue", "reviewRating.ratingValue", "review.reviewRating.ratingValue")), (frozenset({"aggregaterating"}), ("ratingValue",))),
        metas=("og:rating", "product:rating", "rating:average", "ratingvalue", "og:rating:value"),
        look=(seen.rating,),
        clean=_dotted,
    ),
    "review_count": Rule(
        "integer",
        paths=((_ANY, ("aggregateRating.reviewCount", "aggregateRating.ratingCount")), (frozenset({"aggregaterating"}), ("reviewCount", "ratingCount"))),
        metas=("og:rating_count", "product:rating_count", "rating:count", "reviewcount", "ratingcount"),
        look=(seen.review_count,),
    ),
    "sku": Rule(
        paths=((PRODUCT, ("sku", "offers.sku", "productID", "mpn", "model", "hasVariant.sku")),),
        metas=("product:retailer_item_id", "product:sku", "og:sku", "sku", "productid"),
        look=(labelled(LABELS["sku"]), seen.called("sku")),
    ),
    "brand": Rule(
        paths=((PRODUCT, ("brand", "brand.name", "manufacturer")),),
        metas=("product:brand", "og:brand", "brand"),
        look=(labelled(LABELS["brand"]), seen.called("brand")),
    ),
    "gtin": Rule(
        paths=((PRODUCT, ("gtin13", "gtin", "gtin12", "gtin14", "gtin8", "isbn", "offers.gtin13")),),
        metas=("product:ean", "product:upc", "product:gtin", "og:upc", "og:ean"),
        look=(labelled(LABELS["gtin"]),),
    ),
    "isbn": Rule(paths=((PRODUCT, ("isbn", "gtin13")),), metas=("book:isbn", "product:isbn", "og:isbn", "citation_isbn"), look=(labelled(LABELS["isbn"]),)),
    "mpn": Rule(paths=((PRODUCT, ("mpn",)),), metas=("product:mfr_part_no",), look=(labelled(LABELS["mpn"]),)),
    "url": Rule("url", metas=("og:url",), first=(_own_address,)),
    "site": Rule(
        paths=((frozenset({"website"}), ("name",)), (ARTICLE, ("publisher",))),
        metas=("og:site_name", "application-name", "dc.publisher", "publisher"),
    ),
    "publisher": Rule(
        paths=((ARTICLE | PRODUCT, ("publisher",)), (frozenset({"organization", "newsmediaorganization"}), ("name",))),
        metas=("og:site_name", "dc.publisher", "publisher", "article:publisher"),
    ),
    "video": Rule(
        "url",
        paths=((frozenset({"videoobject"}), ("contentUrl", "embedUrl", "url")), (_ANY, ("video",))),
        metas=("og:video", "og:video:url", "og:video:secure_url", "twitter:player"),
    ),
    "email": Rule(paths=((_EVERY, ("email",)), (frozenset({"organization"}), ("email",))), look=(seen.email,)),
    "phone": Rule(paths=((_EVERY, ("telephone",)), (frozenset({"organization"}), ("telephone",))), look=(seen.phone,)),
}  # fmt: skip

ALIASES: Mapping[str, str] = {
    "headline": "title", "heading": "title", "product_name": "name", "content": "text", "body": "text", "article": "text",
    "full_text": "text", "article_body": "text", "main_text": "text", "authors": "author", "byline": "author", "creator": "author",
    "date": "published", "published_at": "published", "publication_date": "published", "publish_date": "published",
    "pubdate": "published", "date_published": "published", "published_date": "published", "updated": "modified",
    "updated_at": "modified", "modified_at": "modified", "last_modified": "modified", "date_modified": "modified",
    "summary": "description", "excerpt": "description", "abstract": "description", "thumbnail": "image", "picture": "image",
    "image_url": "image", "main_image": "image", "lang": "language", "locale": "language", "keywords": "tags", "topics": "tags",
    "section": "category", "breadcrumb": "breadcrumbs", "price_amount": "price", "cost": "price", "price_currency": "currency",
    "stock": "availability", "in_stock": "availability", "stars": "rating", "score": "rating", "rating_value": "rating",
    "reviews": "review_count", "review_number": "review_count", "rating_count": "review_count", "ratings": "review_count",
    "product_id": "sku", "article_number": "sku", "item_number": "sku", "manufacturer": "brand", "ean": "gtin", "upc": "gtin",
    "canonical": "url", "canonical_url": "url", "permalink": "url", "source": "site", "site_name": "site", "telephone": "phone",
    "video_url": "video",
}  # fmt: skip


def _key(name: str) -> str:
    key = re.sub(r"(?<=[a-z])(?=[A-Z])|[^a-zA-Z0-9]+", "_", name.strip()).strip("_").lower()
    return ALIASES.get(key, key)


def rule_of(name: str) -> Rule:
    """What a name means; one that nobody foresaw is looked for under itself."""
    key = _key(name)
    return RULES[key] if key in RULES else _generic(key, name)


# Found without looking at a page bit by bit.
_QUICK = frozenset({"title", "name", "description", "language", "url", "site"})


def is_quick(name: str) -> bool:
    """Whether a name is found so quickly that nobody has to wait for it."""
    return _key(name) in _QUICK


def _generic(key: str, name: str) -> Rule:
    words = [word for word in key.split("_") if word]
    camel = "".join([words[0], *(word.capitalize() for word in words[1:])]) if words else name
    label = LABELS.get(key) or r"[\s_-]*".join(map(re.escape, words)) or re.escape(name)
    return Rule(
        paths=((_ANY, (camel,)), (None, (camel,))),
        metas=(key, camel.lower(), "-".join(words), f"og:{key}", f"product:{key}", f"article:{key}", f"dc.{key}"),
        look=(labelled(label), seen.called(key)),
    )
