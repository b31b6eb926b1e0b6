"""The store's contract runs on every database; a new one is one more parameter of `database`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tarantella.store.database import Database
from tests.contract.world import World


@pytest.fixture
def world(database: Database) -> Iterator[World]:
    """A world in which everything still adds up when the test is over."""
    made = World(database)
    yield made
    made.check()
