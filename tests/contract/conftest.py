"""The store's contract runs on every database; a new one is one more parameter of `place`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tarantella.store import schema
from tarantella.store.database import Database
from tarantella.store.dialect import Place
from tests.contract.world import World
from tests.postgres import Server


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def place(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where an empty database with the current schema is."""
    if kind == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    path = tmp_path / "store" / "tarantella.db"
    schema.prepare(path)
    return path


@pytest.fixture
def bare_place(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Where a database can be that has no tables yet."""
    if kind == "sqlite":
        yield tmp_path / "bare" / "tarantella.db"
    else:
        server: Server = request.getfixturevalue("postgres_server")
        name = server.new_database("template0")
        yield server.url(name)
        server.drop(name)


@pytest.fixture
def database(place: Place) -> Iterator[Database]:
    opened = Database(place)
    yield opened
    opened.close()


@pytest.fixture
def world(database: Database) -> Iterator[World]:
    """A world in which everything still adds up when the test is over."""
    made = World(database)
    yield made
    made.check()
