"""How much of a document is read: a tree can take two hundred bytes for each tag, and a tag can be three bytes."""

from __future__ import annotations

# The longest pages that people write have a third of this; beyond it somebody wants to see us busy.
MOST_BYTES = 16_000_000
MOST_MARKS = 1_200_000  # tags and entities, or what looks like one: up to 300 MB and a second
_STEP = 64 * 1024


def excerpt(body: bytes) -> bytes:
    """The beginning of a body that can be read in bounded time and memory; nearly always all of it."""
    if len(body) <= MOST_MARKS:
        return body
    body = body[:MOST_BYTES]
    marks = 0
    for start in range(0, len(body), _STEP):
        marks += body.count(b"<", start, start + _STEP) + body.count(b"&", start, start + _STEP)
        if marks > MOST_MARKS:
            return body[:start]
    return body
