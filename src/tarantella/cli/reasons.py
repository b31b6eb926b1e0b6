"""Why links were not followed, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tarantella.cli import words
from tarantella.domain.trap import TrapNote, TrapRule

REFUSED_IN_WORDS: Mapping[str, str] = {
    "scope": "outside the scope",
    "depth": "deeper than the depth",
    "scheme": "not http or https",
    "max_pages": "over the page limit",
    "too_long": "too long",
    "nofollow": "on pages that ask not to be followed",
    "too_many": "more than 50,000 on one page",
    "malformed": "malformed",
    **{f"trap_{rule}": f"in a trap ({rule})" for rule in TrapRule},
}


def refused_line(refused: Mapping[str, Any]) -> str | None:
    """All links that were not followed, in one line."""
    found = [
        f"{words.count(entry['count'])} {REFUSED_IN_WORDS.get(reason, reason)}"
        for reason, entry in sorted(refused.items(), key=lambda item: -item[1]["count"])
    ]
    return f"links not followed: {', '.join(found)}" if found else None


def trap_lines(traps: Iterable[TrapNote]) -> list[str]:
    """What the trap rules stopped, a line each."""
    return [
        f"trap: {words.clean(note.pattern)}: {note.in_words} (--trap-limit {note.let_through_by} lets it through)"
        for note in traps
        if note.stopped
    ]
