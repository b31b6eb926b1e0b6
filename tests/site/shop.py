"""A small shop: lists of goods over several pages, goods that describe themselves, and an article."""

from __future__ import annotations

import json

from tests.site.registry import Call, route
from tests.site.reply import Reply

GOODS = 7
PER_PAGE = 3
PARAGRAPH = "The loom stood by the window for forty years, and nobody who came into the room could walk past it, unless they had to. "


@route("/shop/")
async def shop(call: Call) -> Reply:
    """`/shop/list?page=2`: three goods a page; `/shop/goods/3`: one of them; `/shop/story`: an article."""
    path = call.request.path
    if path == "/shop/list":
        return _reply(_list(call.request.integer("page", 1)))
    if path == "/shop/story":
        return _reply(_story())
    return _reply(_goods(int(path.rpartition("/")[2])))


def price_of(number: int) -> str:
    return f"{number}.{number}99,50 €" if number != 4 else "on request"


def _list(number: int) -> str:
    first = (number - 1) * PER_PAGE + 1
    goods = "".join(
        f'<li class="goods"><h2>Loom {n}</h2><span class="price">{price_of(n)}</span><a href="/shop/goods/{n}">more</a></li>'
        for n in range(first, min(first + PER_PAGE, GOODS + 1))
    )
    more = f'<a class="next" href="/shop/list?page={number + 1}">next</a>' if first + PER_PAGE <= GOODS else ""
    return f'<html lang="de"><title>Looms {number}</title><body><ul>{goods}</ul>{more}'


def _goods(number: int) -> str:
    about = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": f"Loom {number}",
        "sku": f"L-{number}",
        "offers": {"@type": "Offer", "price": f"{number}.5", "priceCurrency": "EUR"},
    }
    script = f'<script type="application/ld+json">{json.dumps(about)}</script>'
    return (
        f'<html lang="en"><head><title>Loom {number}</title>{script}</head><body><h1>Loom {number}</h1>'
        f'<p class="price">€ {number}.50</p><p id="stock">In stock</p></body>'
    )


def _story() -> str:
    paragraphs = "".join(f"<p>{n}. {PARAGRAPH * 2}</p>" for n in range(1, 9))
    return (
        '<html lang="en"><head><title>The loom</title><meta name="author" content="Ann Weaver">'
        '<meta property="article:published_time" content="2024-03-05"></head><body><nav><a href="/a">a</a></nav>'
        f'<article><h1>The loom</h1><div class="article-body">{paragraphs}</div></article><footer>© us</footer></body>'
    )


def _reply(html: str) -> Reply:
    return Reply(body=html.encode())
