"""Lists of pages: as they should be, and as they should not."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape

from tests.site.registry import Call, route
from tests.site.reply import Reply
from tests.site.request import Request

XML = "application/xml"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
MEGABYTE = 1024 * 1024


@route("/sitemap/list")
async def listed(call: Call) -> Reply:
    """`/sitemap/list?n=5&from=0&form=xml|text|rss|atom&gz=1&cut=100`: lists `/item/0` and so on, perhaps not to the end."""
    request = call.request
    first = request.integer("from", 0)
    urls = [absolute(request, f"/item/{number}") for number in range(first, first + request.integer("n", 5))]
    text, content_type = _FORMS[request.text("form", "xml")](urls)
    body = text.encode()[: request.integer("cut", len(text.encode()))]
    # Neither the name nor the type says that it is compressed.
    return Reply(200, gzip.compress(body) if request.integer("gz", 0) else body, content_type)


@route("/sitemap/index")
async def index(call: Call) -> Reply:
    """`/sitemap/index?of=/sitemap/list|/sitemap/index`: names these sitemaps."""
    request = call.request
    urls = [absolute(request, path) for path in request.text("of", request.target).split("|")]
    return Reply(200, sitemap_index(urls).encode(), XML)


@route("/sitemap/deeper/")
async def deeper(call: Call) -> Reply:
    """`/sitemap/deeper/1`: an index of one index, which is an index of one index, and so on; each lists a page of its own."""
    request = call.request
    level = int(request.path.rpartition("/")[2])
    below = [absolute(request, f"/sitemap/deeper/{level + 1}"), absolute(request, f"/sitemap/list?n=1&from={level}")]
    return Reply(200, sitemap_index(below).encode(), XML)


@route("/sitemap/bomb")
async def bomb(call: Call) -> Reply:
    """A billion laughs, a file of this machine, and two pages."""
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    dtd = f'<!DOCTYPE urlset [<!ENTITY l0 "ha">{laughs}<!ENTITY file SYSTEM "file:///etc/passwd">]>'
    urls = [absolute(call.request, path) for path in ("/item/1", "/item/2")]
    body = "".join(f"<url><loc>{url}</loc><priority>&l9;&file;</priority></url>" for url in urls)
    return Reply(200, f"{DECLARATION}{dtd}<urlset>{body}</urlset>".encode(), XML)


@route("/sitemap/endless")
async def endless(call: Call) -> None:
    """`/sitemap/endless?mb=60`: three pages, then so many megabytes of nothing, without an end tag."""
    urls = [absolute(call.request, f"/item/{number}") for number in range(3)]
    await call.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nConnection: close\r\n\r\n")
    await call.send(urlset(urls).removesuffix("</urlset>").encode())
    for _ in range(call.request.integer("mb", 60)):
        await call.send(b"<!-- and so on -->\n" * (MEGABYTE // 19))


@route("/sitemap/html")
async def not_one(_call: Call) -> Reply:
    """A page for people where a sitemap should be."""
    return Reply(200, b"<!doctype html><html><body><h1>Not found</h1></body></html>")


def urlset(urls: Sequence[str]) -> str:
    items = "".join(f"<url><loc>{escape(url)}</loc></url>" for url in urls)
    return f'{DECLARATION}<urlset xmlns="{NAMESPACE}">{items}</urlset>'


def sitemap_index(urls: Sequence[str]) -> str:
    items = "".join(f"<sitemap><loc>{escape(url)}</loc></sitemap>" for url in urls)
    return f'{DECLARATION}<sitemapindex xmlns="{NAMESPACE}">{items}</sitemapindex>'


def absolute(request: Request, path: str) -> str:
    return path if path.startswith("http") else f"http://{request.host}{path}"


def _rss(urls: Sequence[str]) -> str:
    items = "".join(f"<item><title>x</title><link>{escape(url)}</link></item>" for url in urls)
    return f'{DECLARATION}<rss version="2.0"><channel><link>http://other.example/</link>{items}</channel></rss>'


def _atom(urls: Sequence[str]) -> str:
    items = "".join(f'<entry><link href="{escape(url)}"/></entry>' for url in urls)
    return f'{DECLARATION}<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://other.example/"/>{items}</feed>'


_FORMS: dict[str, Callable[[Sequence[str]], tuple[str, str]]] = {
    "xml": lambda urls: (urlset(urls), XML),
    "text": lambda urls: ("\n".join(urls) + "\n", "text/plain"),
    "rss": lambda urls: (_rss(urls), "application/rss+xml"),
    "atom": lambda urls: (_atom(urls), "application/atom+xml"),
}
