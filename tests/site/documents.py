"""Bodies that are not plain UTF-8 HTML."""

from __future__ import annotations

import codecs
import gzip

from tests.site.registry import Call, route
from tests.site.reply import Reply, json_reply, page
from tests.site.request import BadRequestError

WESTERN = "Il caffè è già lì: così può andare."
CYRILLIC = "Съешь же ещё этих мягких булок и выпей чаю."
JAPANESE = "蜘蛛は糸を張り、町は踊りをおどる。"

_SAMPLES = {
    "iso8859-1": WESTERN,
    "iso8859-15": WESTERN,
    "cp1252": WESTERN,
    "shift_jis": JAPANESE,
    "euc_jp": JAPANESE,
    "iso2022_jp": JAPANESE,
}


@route("/json")
async def json_document(_call: Call) -> Reply:
    items = [{"id": number, "name": f"item {number}", "price": number * 1.5} for number in range(1, 4)]
    return json_reply({"ok": True, "items": items})


@route("/pdf")
async def pdf(_call: Call) -> Reply:
    body = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj << >> endobj\ntrailer << /Root 1 0 R >>\n%%EOF\n"
    return Reply(200, body, "application/pdf")


@route("/binary")
async def binary(call: Call) -> Reply:
    """`/binary?as=text/html`: bytes that are no text, under any content type (an empty one sends none)."""
    return Reply(200, bytes(range(256)) * 16, call.request.text("as", "application/octet-stream"))


@route("/charset")
async def charset(call: Call) -> Reply:
    """`/charset?enc=windows-1251&declared=header|meta|none&claim=utf-8`: text in enc that claims another."""
    request = call.request
    encoding, declared = request.text("enc", "windows-1251"), request.text("declared", "header")
    claim = request.text("claim", encoding)
    if declared not in {"header", "meta", "none"}:
        raise BadRequestError(f"declared must be header, meta or none, not {declared!r}")
    meta = f'<meta charset="{claim}">' if declared == "meta" else ""
    head = f"<!doctype html><html><head>{meta}<title>Charset</title></head>"
    text = f"{head}<body><p>{sample(encoding)}</p></body></html>"
    content_type = f"text/html; charset={claim}" if declared == "header" else "text/html"
    return Reply(200, text.encode(encoding), content_type)


def sample(encoding: str) -> str:
    """The sentence that `/charset` writes in this encoding."""
    try:
        return _SAMPLES.get(codecs.lookup(encoding).name, CYRILLIC)
    except LookupError as error:
        raise BadRequestError(f"enc must be an encoding that Python knows, not {encoding!r}") from error


@route("/gzip")
async def gzipped(_call: Call) -> Reply:
    plain = page("Gzipped", "<p>Squeezed and whole.</p>")
    return Reply(200, gzip.compress(plain.body), headers=(("Content-Encoding", "gzip"),))


@route("/bad-gzip")
async def bad_gzip(_call: Call) -> Reply:
    """Says gzip, is not."""
    return Reply(200, page("Not gzipped").body, headers=(("Content-Encoding", "gzip"),))


@route("/deep")
async def deep(call: Call) -> Reply:
    """`/deep?n=100000`: so many nested tags."""
    depth = call.request.integer("n", 100_000)
    return page("Deep", "<div>" * depth + '<a href="/item/deep">down here</a>' + "</div>" * depth)
