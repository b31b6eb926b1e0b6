"""Well-behaved pages, and whole sites made of them."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import date, timedelta
from itertools import product
from urllib.parse import urlencode

from tests.site.registry import Call, route
from tests.site.reply import Reply, json_reply, page, page_with_links
from tests.site.request import BadRequestError

TREE_LIMIT = 1_000_000
SPA_ROOT_AFTER_BYTES = 5_000


@route("/ok")
async def ok(_call: Call) -> Reply:
    return page("OK", "<p>All is well.</p>")


@route("/slow")
async def slow(call: Call) -> Reply:
    """`/slow?s=1.5`: answers after so many seconds."""
    await asyncio.sleep(call.request.number("s", 1.5))
    return page("Slow")


@route("/list", "/many-links")
async def list_of_items(call: Call) -> Reply:
    """`/list?n=60`: links to `/item/0` and so on."""
    default = 60 if call.request.path == "/list" else 50_000
    return page_with_links("List", (f"/item/{number}" for number in range(call.request.integer("n", default))))


@route("/item/")
async def item(call: Call) -> Reply:
    name = call.request.path.removeprefix("/item/")
    return page(f"Item {name}", f'<p class="id">{name}</p>')


@route("/tree")
async def tree(call: Call) -> Reply:
    """`/tree?at=0.1&delay_ms=5&depth=3&fan=2`: a node that links to its children; without `at`, the root."""
    request = call.request
    depth, fan, delay_ms = (request.integer(*each) for each in (("depth", 3), ("fan", 3), ("delay_ms", 0)))
    where = request.text("at", "")
    if not re.fullmatch(r"([0-9]{1,6}(\.[0-9]{1,6})*)?", where):
        raise BadRequestError(f"at must look like 0.1.2, not {where!r}")
    at = tuple(map(int, where.split("."))) if where else ()
    if len(at) > depth or any(step >= fan for step in at):
        return page("No such node", status=404)
    if delay_ms:
        await asyncio.sleep(delay_ms / 1000)
    children = [(*at, step) for step in range(fan)] if len(at) < depth else []
    return page_with_links(f"Node {_dotted(at)}", (tree_path(depth, fan, child, delay_ms) for child in children))


def tree_path(depth: int, fan: int, at: tuple[int, ...] = (), delay_ms: int = 0) -> str:
    """The address of one node; parameters are in alphabetical order, so that normalising changes nothing."""
    where = {"at": _dotted(at)} if at else {}
    delay = {"delay_ms": delay_ms} if delay_ms else {}
    return f"/tree?{urlencode({**where, **delay, 'depth': depth, 'fan': fan})}"


def tree_paths(depth: int, fan: int, delay_ms: int = 0) -> list[str]:
    """The addresses of all nodes, the root first: what a complete crawl of the tree visits."""
    if sum(fan**level for level in range(depth + 1)) > TREE_LIMIT:
        raise ValueError(f"A tree of depth {depth} and fan {fan} has more than {TREE_LIMIT} nodes.")
    return [
        tree_path(depth, fan, at, delay_ms) for level in range(depth + 1) for at in product(range(fan), repeat=level)
    ]


def _dotted(at: tuple[int, ...]) -> str:
    return ".".join(map(str, at))


@route("/links")
async def links(call: Call) -> Reply:
    """`/links?hrefs=/a|/b`: a page with these hrefs, as they are."""
    hrefs = call.request.text("hrefs", "")
    return page_with_links("Links", hrefs.split("|") if hrefs else ())


@route("/calendar")
async def calendar(call: Call) -> Reply:
    """`/calendar?month=2030-01`: a trap, for there is always a next month."""
    try:
        month = date.fromisoformat(f"{call.request.text('month', '2030-01')}-01")
        neighbours = (month - timedelta(days=1), month + timedelta(days=31))
    except (ValueError, OverflowError) as error:
        raise BadRequestError("month must look like 2030-01") from error
    return page_with_links(f"{month:%Y-%m}", (f"/calendar?month={each:%Y-%m}" for each in neighbours))


@route("/fields")
async def fields(_call: Call) -> Reply:
    """A page to extract from: h1, two prices, three tags, an author, a date, a table and JSON-LD."""
    facts = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": "A loom for beginners",
        "sku": "LOOM-1",
    }
    head = (
        '<meta name="description" content="A small loom of beech wood.">'
        f'<script type="application/ld+json">{json.dumps(facts)}</script>'
    )
    body = (
        '<p class="byline">By <a rel="author" href="/item/author">the workshop</a>, '
        '<time datetime="2030-05-01">1 May 2030</time></p>'
        '<span class="price" data-amount="49.90">€ 49.90</span>'
        '<s class="price" data-amount="65.00">€ 65.00</s>'
        '<ul><li class="tag">wood</li><li class="tag"> hand-made </li>'
        '<li class="tag">small &amp; light</li></ul>'
        '<p class="empty"></p><img src="/loom.png" alt="The loom">'
        "<table><tr><th>Width</th><td>40 cm</td></tr><tr><th>Weight</th><td>3 kg</td></tr></table>"
    )
    return page("A loom for beginners", body, head=head)


@route("/spa")
async def spa(_call: Call) -> Reply:
    """An empty shell whose root element comes late in the body, and which only a script would fill."""
    padding = ".unused { color: #123456 }\n" * (SPA_ROOT_AFTER_BYTES // 20)
    text = (
        f"<!doctype html><html><head><title>App</title><style>{padding}</style></head><body>"
        '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>'
        '<script src="/app.js"></script></body></html>'
    )
    return Reply(200, text.encode())


@route("/app.js")
async def app_js(_call: Call) -> Reply:
    code = 'document.getElementById("root").innerHTML = \'<h1>Rendered</h1><a href="/item/1">one</a>\';\n'
    return Reply(200, code.encode(), "text/javascript; charset=utf-8")


@route("/challenge")
async def challenge(call: Call) -> Reply:
    """`/challenge?code=200`: a page that asks for proof of humanity instead of giving what was asked for."""
    body = (
        "<p>Checking your browser before accessing this site.</p>"
        '<form id="challenge-form" action="/challenge"><div class="captcha"></div></form>'
        "<p>Enable JavaScript and cookies to continue.</p>"
    )
    return page("Just a moment...", body, status=call.request.integer("code", 200))


@route("/echo")
async def echo(call: Call) -> Reply:
    """The request as JSON, header names in lower case."""
    request = call.request
    return json_reply(
        {
            "method": request.method,
            "target": request.target,
            "headers": {name.lower(): value for name, value in request.headers},
            "body": request.body.decode("utf-8", "replace"),
        }
    )


@route("/cookies")
async def cookies(call: Call) -> Reply:
    """The cookies that were sent, as JSON."""
    pairs = (pair.strip().partition("=") for pair in call.request.header("cookie").split(";"))
    return json_reply({name: value for name, _, value in pairs if name})


@route("/cookies/set")
async def set_cookies(call: Call) -> Reply:
    """`/cookies/set?a=1&b=2`: sets these cookies for the whole host."""
    headers = tuple(("Set-Cookie", f"{name}={value}; Path=/") for name, value in call.request.params.items())
    return Reply(200, b"<h1>Cookies set</h1>", headers=headers)
