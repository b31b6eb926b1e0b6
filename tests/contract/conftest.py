"""The store's contract runs on every database; a new one is one more parameter of `database`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import structlog

from tarantella.store.database import Database
from tests.contract.world import World


@pytest.fixture(autouse=True)
def _nobody_elses_log() -> None:
    """A command that was tested before may have left a log that writes to where nobody listens any more."""
    structlog.reset_defaults()


@pytest.fixture
def world(database: Database) -> Iterator[World]:
    """A world in which everything still adds up when the test is over."""
    made = World(database)
    yield made
    made.check()
