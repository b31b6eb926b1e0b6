"""HAR files: what a browser's developer tools saved of a page's traffic (HAR 1.2)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from tarantella.domain.errors import InvalidInput
from tarantella.fetchers.contract import Exchange

MAX_FILE = 300_000_000
MAX_KEPT = 18_000_000  # of it, what is worth looking at
MOST_ENTRIES = 200
MOST_HEADERS = 100
_REMEDY = "Save it in the browser's developer tools: Network, Export HAR."


def read_har(path: Path) -> dict[str, Any]:
    """What matters in a HAR file: those of its entries that were answered with JSON."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise InvalidInput(f"{path} can't be read: {error.strerror}.", remedy="Check the path.", field="har") from None
    if len(data) > MAX_FILE:
        raise InvalidInput(
            f"{path} is larger than {MAX_FILE // 1_000_000} MB.", remedy="Save less of the traffic.", field="har"
        )
    try:
        har = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except ValueError as error:
        raise InvalidInput(f"{path} is not JSON: {error}.", remedy=_REMEDY, field="har") from None
    kept: list[dict[str, Any]] = []
    left = MAX_KEPT
    for entry in _entries(har):
        if (slim := _slim(entry)) is None:
            continue
        left -= len(orjson.dumps(slim))
        if left < 0 or len(kept) >= MOST_ENTRIES:
            break
        kept.append(slim)
    return {"log": {"version": "1.2", "entries": kept}}


def exchanges_of(har: Any) -> list[Exchange]:
    """The questions and answers in a HAR, as far as they are whole."""
    found = (_exchange(entry) for entry in _entries(har)[:MOST_ENTRIES])
    return [exchange for exchange in found if exchange is not None]


def _entries(har: Any) -> list[Any]:
    log = har.get("log") if isinstance(har, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise InvalidInput("This is not a HAR: it has no log.entries.", remedy=_REMEDY, field="har")
    return entries


def _slim(entry: Any) -> dict[str, Any] | None:
    """An entry without what nobody asks for; None for one whose answer is no JSON."""
    if (exchange := _exchange(entry)) is None or exchange.body.lstrip()[:1] not in (b"{", b"[", b")"):
        return None
    request: dict[str, Any] = {
        "method": exchange.method,
        "url": exchange.url,
        "headers": _as_pairs(exchange.request_headers),
    }
    if exchange.request_body is not None:
        request["postData"] = {"text": exchange.request_body.decode("utf-8", "replace")}
    text = exchange.body.decode("utf-8", "replace")
    response = {"status": exchange.status, "headers": _as_pairs(exchange.headers), "content": {"text": text}}
    return {"request": request, "response": response}


def _exchange(entry: Any) -> Exchange | None:
    request, response = (_object(entry, name) for name in ("request", "response"))
    content, posted = _object(response, "content"), _object(request, "postData")
    method, url, status = request.get("method"), request.get("url"), response.get("status")
    if not isinstance(method, str) or not isinstance(url, str) or not isinstance(status, int):
        return None
    body = _body(content)
    if body is None:
        return None
    text = posted.get("text")
    return Exchange(
        method,
        url,
        _headers(request),
        text.encode("utf-8", "replace") if isinstance(text, str) else None,
        status,
        _headers(response),
        body,
    )


def _body(content: Mapping[str, Any]) -> bytes | None:
    text = content.get("text")
    if not isinstance(text, str):
        return None
    if content.get("encoding") != "base64":
        return text.encode("utf-8", "replace")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _headers(side: Mapping[str, Any]) -> dict[str, str]:
    pairs = side.get("headers")
    found = {}
    for pair in pairs[:MOST_HEADERS] if isinstance(pairs, list) else ():
        name, value = (pair.get(key) for key in ("name", "value")) if isinstance(pair, dict) else (None, None)
        if isinstance(name, str) and isinstance(value, str):
            found[name.lower()] = value
    return found


def _as_pairs(headers: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]


def _object(value: Any, name: str) -> Mapping[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}
