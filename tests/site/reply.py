"""An ordinary response; what is not ordinary writes to the wire itself."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Reply:
    """A status, a body and headers; an empty content type sends no Content-Type at all."""

    status: int = 200
    body: bytes = b""
    content_type: str = HTML
    headers: tuple[tuple[str, str], ...] = ()

    def encode(self, *, keep_alive: bool, head_only: bool) -> bytes:
        """The bytes of this response."""
        lines = [
            f"HTTP/1.1 {self.status} {_phrase(self.status)}",
            *([f"Content-Type: {self.content_type}"] if self.content_type else []),
            f"Content-Length: {len(self.body)}",
            f"Connection: {'keep-alive' if keep_alive else 'close'}",
            *(f"{name}: {value}" for name, value in self.headers),
        ]
        # UTF-8 here, because that is what careless servers put into Location.
        head = "\r\n".join(line.replace("\r", "").replace("\n", "") for line in lines).encode() + b"\r\n\r\n"
        return head if head_only else head + self.body


def page(title: str, body: str = "", *, status: int = 200, head: str = "", **headers: str) -> Reply:
    """An HTML page; header names are given with underscores."""
    heading = html.escape(title)
    text = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{heading}</title>{head}</head>'
        f"<body><h1>{heading}</h1>{body}</body></html>"
    )
    pairs = tuple((name.replace("_", "-").title(), value) for name, value in headers.items())
    return Reply(status, text.encode(), headers=pairs)


def page_with_links(title: str, hrefs: Iterable[str]) -> Reply:
    """An HTML page that links to these addresses."""
    items = "".join(f'<li><a href="{html.escape(href)}">{html.escape(href)}</a></li>' for href in hrefs)
    return page(title, f"<ul>{items}</ul>")


def json_reply(value: object) -> Reply:
    return Reply(200, json.dumps(value).encode(), "application/json")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unheard Of"
