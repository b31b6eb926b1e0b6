"""Where a crawl of these tests keeps its data: a folder, and a PostgreSQL database if one is named beside it.

It is named in `tarantella.toml`, where every command that is started there finds it, as a user's would.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.postgres import Server

NewPlace = Callable[[str], Path]
# A test that asks for `data_dir` or `new_place` runs on SQLite; marked so, on both.
on_both = pytest.mark.parametrize("new_place", ["sqlite", "postgresql"], indirect=True)


def database_url(data_dir: Path) -> str | None:
    """The URL of the database that belongs to this data directory; None when it is a file in it."""
    settings = data_dir.parent / "tarantella.toml"
    return str(tomllib.loads(settings.read_text())["database_url"]) if settings.exists() else None


@contextmanager
def on_postgres(server: Server, folder: Path) -> Iterator[NewPlace]:
    """A way to new data directories, each with a database that has no tables yet."""
    names: list[str] = []

    def new(name: str) -> Path:
        # Not the last of the list: several threads ask for places at the same time.
        database = server.new_database("template0")
        names.append(database)
        (folder / name).mkdir()
        (folder / name / "tarantella.toml").write_text(f'database_url = "{server.url(database)}"\n')
        return folder / name / "data"

    yield new
    for name in names:
        server.drop(name)


@contextmanager
def on_sqlite(folder: Path) -> Iterator[NewPlace]:
    """A way to new data directories."""

    def new(name: str) -> Path:
        (folder / name).mkdir()
        return folder / name / "data"

    yield new
