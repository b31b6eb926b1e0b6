"""A site that outlives the crawlers, and the assurance that nothing outlives the tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fault.places import NewPlace, on_postgres, on_sqlite
from tests.fault.processes import SiteProcess, environment

ROBOTS = "User-agent: *\nDisallow: /item/private\n"


@pytest.fixture(autouse=True)
def _this_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker in this process starts tasters and engines, which must find the same code from any folder."""
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])


@pytest.fixture(scope="session")
def site_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    with SiteProcess(tmp_path_factory.mktemp("site"), robots=ROBOTS) as site:
        yield site


@pytest.fixture
def site(site_process: SiteProcess) -> SiteProcess:
    """The site, with an empty log."""
    site_process.reset()
    return site_process


@pytest.fixture
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewPlace]:
    """A way to new data directories, with a database of the kind that the test names, or SQLite."""
    if getattr(request, "param", "sqlite") == "sqlite":
        with on_sqlite(tmp_path) as new:
            yield new
    else:
        with on_postgres(request.getfixturevalue("postgres_server"), tmp_path) as new:
            yield new


@pytest.fixture
def data_dir(new_place: NewPlace) -> Path:
    """One of them."""
    return new_place("here")
