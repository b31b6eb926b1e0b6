"""`/sites`: policies that are checked, hosts that are found under every name they have, lists in slices."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest
from starlette.testclient import TestClient

from tarantella.domain.site import Tally
from tarantella.services.app import App
from tarantella.store import sites


def change(http: TestClient, host: str = "example.com", **policy: Any) -> Any:
    return http.patch(f"/sites/{host}", json=policy)


def test_a_policy_changes_only_what_is_mentioned(http: TestClient) -> None:
    assert change(http, per_host=2, delay=1.5).status_code == 200
    told = change(http, paused=True).json()
    policy = told["policy"]
    assert (policy["per_host"], policy["delay"], policy["paused"], policy["max_rate"]) == (2, 1.5, True, None)
    assert told["health"] == "paused"
    assert change(http, per_host=None).json()["policy"]["per_host"] is None


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        ({"per_host": 0}, "per_host"),
        ({"per_host": 1_001}, "per_host"),
        ({"per_host": 1.5}, "per_host"),
        ({"delay": -0.1}, "delay"),
        ({"delay": 3_600.1}, "delay"),
        ({"max_rate": 0}, "max_rate"),
        ({"paused": "maybe"}, "paused"),
        ({"paused": None}, "paused"),
        ({"strategy": "magic"}, "strategy"),
        ({"strategy": "api_replay"}, "strategy"),
        ({"colour": "red"}, "colour"),
        ({}, "body"),
    ],
)
def test_nonsense_is_refused_by_name(http: TestClient, policy: dict[str, Any], field: str) -> None:
    answer = change(http, **policy)
    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert http.get("/sites/example.com").status_code == 404


@pytest.mark.parametrize("name", ["EXAMPLE.com", "example.com.", "example.com"])
def test_a_host_is_the_same_however_it_is_spelt(http: TestClient, name: str) -> None:
    change(http, per_host=3)
    assert http.get(f"/sites/{name}").json()["host"] == "example.com"


@pytest.mark.parametrize("name", ["a b", "exa%00mple", "%5B", "x" * 256, "user:pass@example.com"])
def test_what_is_no_host_is_refused(http: TestClient, name: str) -> None:
    assert change(http, name, per_host=1).status_code == 422


def test_hosts_are_listed_in_slices_that_fit_together(http: TestClient) -> None:
    for number in range(7):
        change(http, f"h{number}.example", paused=number % 2 == 1)
    found: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(10):
        page = http.get("/sites", params={"limit": 3, **cursor})
        found += [site["host"] for site in page.json()]
        if "x-next-cursor" not in page.headers:
            break
        cursor = {"cursor": page.headers["x-next-cursor"]}
    assert found == [f"h{number}.example" for number in range(7)]
    paused = http.get("/sites", params={"paused": True}).json()
    assert [site["host"] for site in paused] == ["h1.example", "h3.example", "h5.example"]
    other = http.get("/sites", params={"paused": True, **cursor})
    assert (other.status_code, other.json()["code"]) == (422, "invalid_cursor")


def test_error_rates_make_the_health_of_a_host(app: App, http: TestClient) -> None:
    tallies = {
        "well.example": Tally(100, Counter({"timeout": 1}), 1_000),
        "so-so.example": Tally(100, Counter({"timeout": 20}), 1_000),
        "ill.example": Tally(100, Counter({"timeout": 50, "network": 20}), 1_000),
    }
    app.database.write_now(partial(sites.tally, tallies=tallies, now=app.now()))
    health = {site["host"]: site["health"] for site in http.get("/sites").json()}
    assert health == {"well.example": "ok", "so-so.example": "degraded", "ill.example": "failing"}
    errors = http.get("/sites/ill.example").json()["errors"]
    assert (errors["requests"], errors["failures"], errors["recent_rate"]) == (100, 70, 0.7)
    assert errors["by_code"] == {"network": 20, "timeout": 50}


def test_a_breaker_can_be_reset_only_where_there_is_a_site(http: TestClient) -> None:
    change(http, per_host=1)
    assert http.post("/sites/example.com/reset-breaker").json()["breaker"]["state"] == "closed"
    assert http.post("/sites/never.example/reset-breaker").status_code == 404
