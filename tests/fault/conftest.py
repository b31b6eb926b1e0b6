"""A site that outlives the crawlers, and the assurance that nothing outlives the tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

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
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"
