"""The API in this process, and somebody who talks to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tarantella.api.app import make_api
from tarantella.services.app import App


@pytest.fixture
def client(app: App) -> Iterator[TestClient]:
    """A client of the API on an application of its own; nobody fetches anything."""
    with TestClient(make_api(app), base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as talking:
        yield talking
