"""Markup that is easy to write and hard to read."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping

from tests.site.registry import Call, route
from tests.site.reply import HTML, Reply
from tests.site.request import BadRequestError

SHAPES: Mapping[str, Callable[[int], bytes]] = {
    "nested": lambda n: b"<div>" * n + b'<a href="/item/deep">down here</a>',
    "nested-closed": lambda n: b"<div>" * n + b'<a href="/item/deep">down here</a>' + b"</div>" * n,
    "links": lambda n: b"".join(b"<a href=/p/%d>x</a>" % number for number in range(n)),
    "open-links": lambda n: b"".join(b"<a href=/p/%d>" % number for number in range(n)),
    "unclosed-tag": lambda n: b"<a href=/item/1>one</a><p " + b"x=1 " * n,
    "unclosed-comment": lambda n: b"<a href=/item/1>one</a><!--" + b"x" * n,
    "unclosed-title": lambda n: b"<title>" + b"x " * n,
    "unclosed-script": lambda n: b"<a href=/item/1>one</a><script>" + b"var x;" * n,
    "tables": lambda n: b"<table><tr><td>" * n,
    "formatting": lambda n: b"<b><p>" * n,
    "attributes": lambda n: b"<p " + b"".join(b"a%d=1 " % number for number in range(n)) + b">",
    "entities": lambda n: b"&amp;" * n,
    "brackets": lambda n: b"<" * n,
    "tags": lambda n: b"<b>" * n,
    "told-markup": lambda _: b"<title>&lt;img src=x onerror=&quot;broken=1&quot;&gt;</title><p>a text about markup",
}


@route("/markup")
async def markup(call: Call) -> Reply:
    """`/markup?shape=nested&n=100000&gzip=1`: so much of it, perhaps in a small body."""
    request = call.request
    shape = request.text("shape", "nested")
    if shape not in SHAPES:
        raise BadRequestError(f"shape must be one of {', '.join(SHAPES)}, not {shape!r}")
    body = b"<!doctype html><html><body>" + SHAPES[shape](request.integer("n", 100_000))
    if not request.integer("gzip", 0):
        return Reply(200, body)
    return Reply(200, gzip.compress(body, 1), HTML, (("Content-Encoding", "gzip"),))
