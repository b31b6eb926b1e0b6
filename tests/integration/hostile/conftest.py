"""A hostile site in a process of its own, for tests that measure what it costs us and not what it costs itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fault.processes import SiteProcess


@pytest.fixture(scope="session")
def far_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    with SiteProcess(tmp_path_factory.mktemp("site")) as site:
        yield site


@pytest.fixture
def far_site(far_process: SiteProcess) -> SiteProcess:
    """The site, with an empty log."""
    far_process.reset()
    return far_process
