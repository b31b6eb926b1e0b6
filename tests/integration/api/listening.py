"""Streams of server-sent events, as a client reads them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2

from tests.integration.api.live import Live


@dataclass(frozen=True, slots=True)
class Told:
    """One message of a stream."""

    kind: str
    id: int | None
    data: Any
    at: float

    @property
    def sequences(self) -> list[int]:
        return [event["sequence"] for event in (self.data if self.kind == "batch" else [self.data])]


def messages(lines: Iterator[str]) -> Iterator[Told]:
    """The messages of a stream; a comment is one of the kind `:`."""
    found: dict[str, str] = {}
    for line in lines:
        if line.startswith(":"):
            yield Told(":", None, line, time.monotonic())
        elif line:
            name, _, value = line.partition(": ")
            found[name] = value
        elif "data" in found:
            number = int(found["id"]) if "id" in found else None
            yield Told(found.get("event", "message"), number, json.loads(found["data"]), time.monotonic())
            found = {}


def watched(live: Live, path: str, last: int | None = None) -> list[Told]:
    """A stream to its end."""
    headers = {"Last-Event-ID": str(last)} if last is not None else {}
    with httpx2.stream("GET", live.url + path, headers=headers, timeout=20) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        return [told for told in messages(answer.iter_lines()) if told.kind != ":"]
