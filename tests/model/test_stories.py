"""Whatever happens, in whatever order: what must hold, holds. Here for a minute, with `tests.model.search` for as long as one likes."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.model.databases import NewDatabase
from tests.model.search import USUAL, search

# Always the same stories: a red test means that something was changed. New ones are the search's to find.
SEED = 1


# What fails is told again and again, ever shorter, for up to five minutes: the shortest is the one to read.
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("new_database", "of", "stories"),
    [("sqlite", "store", 120), ("sqlite", "engines", 60), ("postgresql", "store", 15), ("postgresql", "engines", 10)],
    indirect=["new_database"],
)
def test_no_story_breaks_anything(new_database: NewDatabase, of: str, stories: int) -> None:
    search(of, new_database, settings(USUAL, max_examples=stories), SEED)
