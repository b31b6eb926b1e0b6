"""Pages without content: their scripts ask for it, as JSON, in every way in which lists are given in parts."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import quote

from tests.site.registry import Call, route
from tests.site.reply import Reply, json_reply, page

GOODS = 47
SIZE = 10
TOKEN = "feed-token-7f3ac1"
COOKIE = "feed-visitor-93be"
KEY = "feed-key-55aa01"
WAYS = ("page", "offset", "cursor", "next", "link", "graphql", "body", "closed")


def goods(number: int) -> dict[str, Any]:
    """One of the goods, as the API has it."""
    return {
        "id": number,
        "attributes": {"productName": f"Loom & Sons No. {number}", "unitPrice": number * 7 + 0.5},
        "link": f"/feed/goods/{number}",
        "tags": [f"tag-{number % 3}", "wood"],
        "stock": number % 4 if number % 5 else None,
    }


def shown(number: int) -> dict[str, Any]:
    """The same as a job's fields find it on the page."""
    return {
        "name": f"Loom & Sons No. {number}",
        "price": f"€ {number * 7 + 0.5:.2f}",
        "stock": f"{number % 4} left" if number % 5 else None,
    }


@route("/feed/")
async def feed(call: Call) -> Reply:
    """`/feed/list?way=page&parts=3`: a list that scripts fill; `/feed/api/page?page=2`: what they ask for."""
    path = call.request.path
    if path == "/feed/list":
        return _list_page(call)
    if path.startswith("/feed/api/"):
        await asyncio.sleep(call.request.number("wait", 0))
        return answer(call, path.removeprefix("/feed/api/"))
    return page("Goods")


def _list_page(call: Call) -> Reply:
    way, parts = call.request.text("way", "page"), call.request.text("parts", "1")
    part = call.request.integer("part", 1)
    script = SCRIPT.replace("WAY", json.dumps(way)).replace("PARTS", json.dumps(parts)).replace("FIRST", str(part))
    script = script.replace("TOKEN", json.dumps(TOKEN)).replace("KEY", json.dumps(KEY)).replace("SIZE", str(SIZE))
    more = f'<a class="next" href="/feed/list?way={way}&part={part + 1}">next</a>' if part * SIZE < GOODS else ""
    reply = page("Looms", f'<ul id="list"></ul>{more}<script>{script}</script>')
    cookies = (("Set-Cookie", f"visitor={COOKIE}; Path=/"),) if way == "closed" else ()
    return Reply(200, reply.body, headers=cookies)


SCRIPT = """
const list = document.getElementById("list");
const show = (one) => {
  const made = document.createElement("li");
  made.className = "goods";
  const add = (tag, kind, text) => {
    const element = document.createElement(tag);
    element.className = kind;
    element.textContent = text;
    made.append(element);
  };
  const about = one.attributes || one.details;
  add("h2", "name", about.productName ?? about.title);
  add("span", "price", "€ " + (about.unitPrice ?? about.cost).toFixed(2));
  if (one.stock !== null) add("span", "stock", one.stock + " left");
  list.append(made);
};
const json = async (url, more) => {
  const answer = await fetch(url, more);
  return [await answer.json(), answer.headers.get("link")];
};
const post = (body) => ({method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
const QUERY = "query Goods($first: Int!, $after: String) { goods(first: $first, after: $after) { edges { node { id } } } }";
const ways = {
  page: async (n) => (await json(`/feed/api/page?page=${n}&size=SIZE`))[0].goods,
  closed: async (n) => (await json(`/feed/api/closed?page=${n}&api_key=${KEY}`, {headers: {"X-Feed-Token": TOKEN}}))[0].goods,
  offset: async (n) => (await json(`/feed/api/offset?offset=${(n - 1) * SIZE}&limit=SIZE`))[0],
  body: async (n) => (await json("/feed/api/body", post({filter: {kind: "loom"}, page: n, token: TOKEN})))[0].result.goods,
  cursor: async (n, before) => {
    const [said] = await json("/feed/api/cursor?size=SIZE" + (before ? "&cursor=" + encodeURIComponent(before.next_cursor) : ""));
    return Object.assign(said.goods, {before: said});
  },
  next: async (n, before) => {
    const [said] = await json(before ? before.links.next : "/feed/api/next?size=SIZE");
    return Object.assign(said.goods, {before: said});
  },
  link: async (n, before) => {
    const [said, link] = await json(before ?? "/feed/api/link?size=SIZE");
    return Object.assign(said, {before: link && link.match(/<([^>]+)>/)[1]});
  },
  graphql: async (n, before) => {
    const after = before ? before.endCursor : null;
    const [said] = await json("/feed/api/graphql", post({operationName: "Goods", query: QUERY, variables: {first: SIZE, after}}));
    return Object.assign(said.data.goods.edges.map((edge) => edge.node), {before: said.data.goods.pageInfo});
  },
};
(async () => {
  await json("/feed/api/visitor");
  let before = null;
  for (let n = FIRST; ; n++) {
    const found = await ways[WAY](n, before);
    found.forEach(show);
    before = found.before;
    if (n - FIRST + 1 >= Number(PARTS) || found.length < SIZE) break;
  }
  document.title = "Looms, all of them";
  document.body.dataset.ready = "yes";
})();
"""


def answer(call: Call, way: str) -> Reply:
    request = call.request
    if call.site.counts[f"feed broken {way}"]:
        return Reply(call.site.counts[f"feed broken {way}"], b"gone", "text/plain")
    if way == "visitor":
        return json_reply(
            {"visitor": {"name": "Loom & Sons No. 1", "country": "IT"}, "flags": [{"name": "a"}, {"name": "b"}]}
        )
    if way == "closed" and not _may_enter(call):
        return Reply(401, b'{"error": "no"}', "application/json")
    start = _start(call, way)
    found = [goods(number + 1) for number in range(start, min(start + SIZE, GOODS))]
    if call.site.counts["feed changed"]:
        found = [_otherwise(one) for one in found]
    after = start + SIZE if start + SIZE < GOODS else None
    if way == "offset":
        return json_reply(found)
    if way == "body":
        return json_reply({"result": {"goods": found}, "took": 3})
    if way == "cursor":
        return json_reply({"goods": found, "next_cursor": _cursor(after)})
    if way == "next":
        address = f"/feed/api/next?size={SIZE}&from={after}" if after is not None else None
        return json_reply({"goods": found, "links": {"self": request.target, "next": address}})
    if way == "link":
        address = call.site.url_for(f"/feed/api/link?size={SIZE}&from={after}")
        headers = (("Link", f'<{address}>; rel="next"'),) if after is not None else ()
        return Reply(200, json.dumps(found).encode(), "application/json", headers)
    if way == "graphql":
        about = {"hasNextPage": after is not None, "endCursor": _cursor(after)}
        return json_reply({"data": {"goods": {"edges": [{"node": one} for one in found], "pageInfo": about}}})
    return json_reply({"goods": found, "page": start // SIZE + 1, "total": GOODS})


def _start(call: Call, way: str) -> int:
    request = call.request
    if way in ("page", "closed"):
        return (request.integer("page", 1) - 1) * SIZE
    if way == "offset":
        return request.integer("offset", 0)
    if way == "cursor":
        return _behind(request.text("cursor", "") or None)
    if way == "graphql":
        return _behind(json.loads(request.body)["variables"]["after"])
    if way == "body":
        said = json.loads(request.body)
        return (said["page"] - 1) * SIZE if said["token"] == TOKEN else GOODS
    return request.integer("from", 0)


def _cursor(after: int | None) -> str | None:
    return f"c/{after}=+" if after is not None else None


def _behind(cursor: str | None) -> int:
    return int(cursor.removeprefix("c/").removesuffix("=+")) if cursor else 0


def _may_enter(call: Call) -> bool:
    request = call.request
    known = request.header("x-feed-token") == TOKEN and request.text("api_key", "") == KEY
    return known and f"visitor={COOKIE}" in request.header("cookie")


def _otherwise(one: dict[str, Any]) -> dict[str, Any]:
    """What a new version of the API says of the same."""
    about = one["attributes"]
    details = {"title": about["productName"], "cost": about["unitPrice"]}
    return {"key": one["id"], "details": details, "stock": one["stock"]}


def har(site_url: str, way: str = "page", parts: int = 1, wait: float = 0) -> dict[str, Any]:
    """What a browser would save of such a page."""
    entries = [_entry(f"{site_url}/feed/list", "<html>", kind="text/html")]
    for part in range(parts):
        start = part * SIZE
        found = [goods(number + 1) for number in range(start, min(start + SIZE, GOODS))]
        if way == "graphql":
            about = {"hasNextPage": True, "endCursor": _cursor(start + SIZE)}
            body = {"data": {"goods": {"edges": [{"node": one} for one in found], "pageInfo": about}}}
            posted = {
                "query": "query Goods { x }",
                "variables": {"first": SIZE, "after": _cursor(start) if start else None},
            }
            entries.append(
                _entry(f"{site_url}/feed/api/graphql?wait={wait}", json.dumps(body), posted=json.dumps(posted))
            )
        else:
            text = json.dumps({"goods": found, "page": part + 1, "total": GOODS})
            address = f"{site_url}/feed/api/{way}?wait={wait}&page={part + 1}"
            if way == "closed":
                address += f"&api_key={quote(KEY)}"
            entries.append(_entry(address, text))
    return {"log": {"version": "1.2", "creator": {"name": "t"}, "entries": entries}}


def _entry(url: str, text: str, kind: str = "application/json", posted: str | None = None) -> dict[str, Any]:
    headers = [
        {"name": "X-Feed-Token", "value": TOKEN},
        {"name": "Cookie", "value": f"visitor={COOKIE}"},
        {"name": "User-Agent", "value": "Somebody"},
    ]
    request: dict[str, Any] = {"method": "GET", "url": url, "headers": headers}
    if posted is not None:
        headers.append({"name": "Content-Type", "value": "application/json"})
        request |= {"method": "POST", "postData": {"mimeType": "application/json", "text": posted}}
    response = {"status": 200, "headers": [], "content": {"mimeType": kind, "text": text}}
    return {"startedDateTime": "2024-05-01T00:00:00Z", "request": request, "response": response}
