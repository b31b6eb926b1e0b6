"""Who is let in: every route, with and without a token, under every name."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.routing import BaseRoute
from starlette.testclient import TestClient

from tarantella.api.app import ROUTERS, make_api
from tarantella.domain.access import OPEN_PATHS, Scope
from tarantella.services import tokens
from tarantella.services.app import App
from tarantella.services.tokens import KNOWN_FOR, Tokens
from tarantella.web import shell

BASE = "http://127.0.0.1:8000"


def all_requests() -> list[tuple[str, str]]:
    """Every method of every route, with something in the place of its parameters."""
    found = []
    routes: list[BaseRoute] = [route for router in ROUTERS for route in router.routes]
    for route in routes:
        path = getattr(route, "path", "")
        for name in ("run_id", "task_id", "job_id", "host"):
            path = path.replace(f"{{{name}}}", "example.com")
        found += [(method, path) for method in sorted(getattr(route, "methods", None) or ())]
    return [*found, ("GET", "/openapi.json"), ("GET", "/nothing/here"), ("POST", "/health"), ("GET", "/health/")]


@pytest.fixture
def http(app: App) -> Iterator[TestClient]:
    with TestClient(make_api(app), base_url=BASE, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def public(app: App) -> Iterator[TestClient]:
    """A server that others can reach too."""
    with TestClient(make_api(app, is_local=False), base_url=BASE, raise_server_exceptions=False) as client:
        yield client


def token(app: App, scope: Scope) -> dict[str, str]:
    """The header of somebody who has such a token."""
    _, text = asyncio.run(tokens.create(app, None, scope))
    return {"Authorization": f"Bearer {text}"}


def is_open(method: str, path: str) -> bool:
    return path in OPEN_PATHS | shell.PATHS and method in ("GET", "HEAD")


def test_the_walk_knows_all_routes_of_the_schema(app: App) -> None:
    schema = make_api(app).openapi()
    described = {(method.upper(), path) for path, item in schema["paths"].items() for method in item}
    walked = {(method, path) for method, path in all_requests()}
    for method, path in described:
        for name in ("run_id", "task_id", "job_id", "host"):
            path = path.replace(f"{{{name}}}", "example.com")
        assert (method, path) in walked
    assert len(walked) > 30


@pytest.mark.parametrize("shown", [None, "", "Bearer", "Bearer ", "Bearer tt_wrong", "Basic dXNlcjpwYXNz", "tt_wrong"])
def test_without_a_token_no_route_answers_once_there_is_one_but_health_and_what_asks_for_it(
    app: App, shown: str | None
) -> None:
    token(app, Scope.READ)
    with TestClient(make_api(app), base_url=BASE, raise_server_exceptions=False) as http:
        for method, path in all_requests():
            headers = {"Authorization": shown} if shown is not None else {}
            answer = http.request(method, path, headers=headers)
            if is_open(method, path):
                assert answer.status_code in (200, 503), (method, path)
            else:
                assert answer.status_code == 401, (method, path, answer.text)
                assert answer.headers["www-authenticate"].startswith("Bearer")
                if method != "HEAD":
                    assert answer.json()["code"] == "unauthorized"


def test_a_public_server_wants_a_token_even_when_there_is_none(public: TestClient) -> None:
    for method, path in all_requests():
        expected = (200, 503) if is_open(method, path) else (401,)
        assert public.request(method, path).status_code in expected, (method, path)


def test_a_local_server_is_open_for_as_long_as_there_is_no_token(http: TestClient) -> None:
    assert http.get("/system").status_code == 200


def test_scopes_are_what_they_say(app: App, http: TestClient) -> None:
    reader, writer, admin = (token(app, scope) for scope in Scope)
    submit: dict[str, Any] = {"json": {"url": "https://example.com/"}}
    policy: dict[str, Any] = {"json": {"per_host": 1}}

    def status(method: str, path: str, who: dict[str, str], **more: Any) -> int:
        return http.request(method, path, headers=who, **more).status_code

    assert {status("GET", "/system", who) for who in (reader, writer, admin)} == {200}
    assert [status("POST", "/scraping/async-scrape", who, **submit) for who in (reader, writer, admin)] == [
        403,
        200,
        200,
    ]
    assert [status("PATCH", "/sites/a.example", who, **policy) for who in (reader, writer, admin)] == [403, 403, 200]
    refused = http.post("/scraping/async-scrape", headers=reader, **submit).json()
    assert (refused["code"], refused["limit"]) == ("forbidden", "write")


def test_a_revoked_token_lets_nobody_in(app: App) -> None:
    clock = itertools.count(0.0, KNOWN_FOR * 2)
    known = Tokens(app, clock=lambda: next(clock))

    async def story() -> None:
        kept, text = await tokens.create(app, "ci", Scope.ADMIN)
        assert await known.scope_of(text) is Scope.ADMIN
        await tokens.revoke(app, kept.id)
        assert await known.scope_of(text) is None

    asyncio.run(story())


def test_a_token_in_the_address_is_not_read(app: App, http: TestClient) -> None:
    who = token(app, Scope.ADMIN)["Authorization"].partition(" ")[2]
    for name in ("token", "access_token", "authorization"):
        assert http.get("/system", params={name: who}).status_code == 401


def test_a_token_is_stored_as_a_digest_only(app: App) -> None:
    _, text = asyncio.run(tokens.create(app, "ci", Scope.READ))
    rows = app.database.read_now(lambda tx: [tuple(row) for row in tx.all("SELECT * FROM tokens")])
    assert text not in repr(rows)
    assert text.removeprefix("tt_") not in repr(rows)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "localhost.evil.example", ""])
def test_a_name_that_somebody_made_lead_here_is_not_answered(http: TestClient, host: str) -> None:
    for path in ("/system", "/health", "/nothing"):
        answer = http.get(path, headers={"Host": host})
        assert (answer.status_code, answer.json()["code"]) == (403, "host_not_allowed")


def test_a_name_that_is_allowed_is_answered(app: App) -> None:
    from tests.integration.api.conftest import with_settings

    served = make_api(with_settings(app, allowed_hosts=("scrapes.example",)))
    with TestClient(served, base_url="http://scrapes.example") as client:
        assert client.get("/system").status_code == 200


def test_a_page_of_another_web_site_can_change_nothing(http: TestClient) -> None:
    run = "/jobs/runs/0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10/cancel"
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = http.post(run, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "origin_not_allowed")
    assert http.post(run, headers={"Origin": BASE}).status_code == 404


def test_browsers_are_told_to_take_nothing_for_what_it_is_not(http: TestClient) -> None:
    for path in ("/health", "/nothing", "/system"):
        answer = http.get(path)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
