"""The pages that are drawn from the code say what the code does."""

from __future__ import annotations

import pytest

from tarantella.domain.failure import IN_WORDS, POLICY, Failure
from tarantella.domain.page import SKIP_IN_WORDS, Skip
from tools.drawings import DOCS, PAGES, WHEN


@pytest.mark.parametrize("name", PAGES)
def test_a_drawn_page_is_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run: python -m tools.drawings"


def test_every_failure_and_skip_has_a_policy_and_words() -> None:
    assert set(POLICY) == set(IN_WORDS) == set(WHEN) == set(Failure)
    assert set(SKIP_IN_WORDS) == set(Skip)
