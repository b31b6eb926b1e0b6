"""Why pages failed or were skipped, in words."""

from __future__ import annotations

from collections.abc import Mapping

from tarantella.domain.failure import IN_WORDS
from tarantella.domain.page import SKIP_IN_WORDS

# No skip has the name of a failure.
_IN_WORDS: Mapping[str, str] = {code.value: words for code, words in (*IN_WORDS.items(), *SKIP_IN_WORDS.items())}


def in_words(reason: str | None) -> str:
    """Why a page ended so, for people; one that is not known, as it is."""
    return _IN_WORDS.get(reason or "", reason or "no reason was given")
