"""The files of the dashboard, as a client gets them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

import pytest
from starlette.testclient import TestClient

from tarantella.api.app import make_api
from tarantella.services.app import App
from tarantella.web import shell

STATIC = files("tarantella.web").joinpath("static")


@pytest.fixture
def http(app: App) -> Iterator[TestClient]:
    """A server that others can reach too: without a token it says nothing else."""
    with TestClient(make_api(app, is_local=False), base_url="http://127.0.0.1:8000") as client:
        yield client


@pytest.mark.parametrize("name", sorted(shell.NAMES))
def test_every_file_is_served_without_a_token_and_under_the_same_rules(http: TestClient, name: str) -> None:
    answer = http.get(f"/dashboard/{name}")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "trusted-types 'none'" in policy
    again = http.get(f"/dashboard/{name}", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path", ["/dashboard/", "/dashboard/shell.py", "/dashboard/..%2fshell.py", "/dashboard/%2e%2e/shell.py"]
)
def test_nothing_else_is_served(http: TestClient, path: str) -> None:
    assert http.get(path).status_code == 401


def test_what_a_file_loads_is_there(http: TestClient) -> None:
    for name in sorted(shell.NAMES):
        text = STATIC.joinpath(name).read_text(encoding="utf-8")
        for loaded in re.findall(r'from "\./([^"]+)"|(?:src|href)="/dashboard/([^"]+)"', text):
            assert set(filter(None, loaded)) <= shell.NAMES, (name, loaded)


def test_no_file_makes_markup_of_text_or_loads_anything_from_elsewhere() -> None:
    for name in sorted(shell.NAMES):
        text = STATIC.joinpath(name).read_text(encoding="utf-8")
        for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert forbidden not in text, (name, forbidden)
        assert set(re.findall(r"https?://[a-z0-9.]+", text)) <= {"http://www.w3.org"}, name
