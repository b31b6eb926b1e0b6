"""The Link header: where an answer says that the next one is."""

from __future__ import annotations

import re

_LINK = re.compile(r"<([^<>]{1,4000})>([^<]*)")
_NEXT = re.compile(r""";\s*rel\s*=\s*(?:"[^"]*\bnext\b[^"]*"|next\b)""", re.IGNORECASE)


def next_link(header: str | None) -> str | None:
    """The address with the relation `next`, as it is written."""
    for address, parameters in _LINK.findall((header or "")[:20_000]):
        if _NEXT.search(parameters):
            return str(address).strip()
    return None
