"""Sentences that are put together: what somebody else said is part of ours."""

from __future__ import annotations

import re

# Three are meant, and two by themselves or behind a slash are a folder.
_ENDED_TWICE = re.compile(r"(?<=[^\s./])([.!?])\.(?=\s|$)")


def with_one_stop(text: str) -> str:
    """The same, with one full stop where a sentence that ends ours had one already."""
    return _ENDED_TWICE.sub(r"\1", text)
