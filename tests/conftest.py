"""Fixtures over real parts: a database on disk, a web site on loopback, an application on a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tarantella.bootstrap import open_app
from tarantella.services.app import App
from tarantella.settings import load
from tarantella.store import schema
from tarantella.store.database import Database
from tests.browsers import program_or_skip
from tests.logs import own_log
from tests.postgres import Server, binaries_or_skip
from tests.redis import RedisServer, binary_or_skip

if TYPE_CHECKING:
    from tests.fleet import Fleet


@pytest.fixture(autouse=True)
def _nobody_elses_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A developer's .env or environment must not change what is tested."""
    import os

    for name in list(os.environ):
        if name.startswith(("TARANTELLA_", "APP_")):
            monkeypatch.delenv(name)
    # Whether the machine has a browser must not change what is tested; tests of the browser say that they want it.
    monkeypatch.setenv("TARANTELLA_BROWSER", "off")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _nobody_elses_log() -> Iterator[None]:
    """A log that a test's command set up must not write to where nobody listens any more."""
    with own_log():
        yield


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """An empty database with the current schema."""
    path = tmp_path / "store" / "tarantella.db"
    schema.prepare(path)
    opened = Database(path)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A PostgreSQL server for the whole session; without one, tests that ask for it are skipped with the reason."""
    with Server(binaries_or_skip()) as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: Server) -> Iterator[str]:
    """An empty PostgreSQL database with the current schema."""
    name = postgres_server.lend()
    yield postgres_server.url(name)
    postgres_server.give_back(name)


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Redis server for the whole session; without one, tests that ask for it are skipped with the reason."""
    with RedisServer(binary_or_skip(), tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def fleet(tmp_path: Path, postgres_server: Server, redis_server: RedisServer) -> Iterator[Fleet]:
    """A database and a broker for servers and workers."""
    from tests.fleet import new_fleet  # loads Celery, which most tests can do without

    with new_fleet(tmp_path, postgres_server, redis_server) as made:
        yield made


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> str:
    """The Chromium of this machine, switched on for this test; without one it is skipped with the reason."""
    program = program_or_skip()
    monkeypatch.setenv("TARANTELLA_BROWSER", program)
    return program


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """An application on a data directory of its own."""
    opened = open_app(load(data_dir=tmp_path / "data"))
    yield opened
    opened.close()
