"""The databases that stories are told on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.model.databases import NewDatabase, postgresql_on, sqlite


@pytest.fixture
def new_database(request: pytest.FixtureRequest) -> Iterator[NewDatabase]:
    """Empty databases of the kind that the test names."""
    if request.param == "sqlite":
        with sqlite() as made:
            yield made
    else:
        with postgresql_on(request.getfixturevalue("postgres_server")) as made:
            yield made
