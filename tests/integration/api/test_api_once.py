"""Idempotency keys: asking twice is asking once, however many ask at the same time."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from tarantella.services.app import App
from tests.integration.api.live import serving
from tests.integration.api.talking import Talker
from tests.site import Site

KEY = {"Idempotency-Key": "the-same-key"}
TASK = {"url": "https://a.example/", "max_depth": 2}


def test_the_same_key_gets_the_same_answer_and_one_run(client: Talker) -> None:
    answers = [client.http.post("/scraping/async-scrape", json=TASK, headers=KEY) for _ in range(3)]
    assert len({answer.text for answer in answers}) == 1
    assert [answer.headers.get("idempotent-replayed") for answer in answers] == [None, "true", "true"]
    assert len(client.get("/scraping/tasks")) == 1


def test_the_same_key_with_another_request_is_refused(client: Talker) -> None:
    client.http.post("/scraping/async-scrape", json=TASK, headers=KEY)
    for path, body in (
        ("/scraping/async-scrape", {**TASK, "max_depth": 3}),
        ("/jobs", {"target_url": "http://127.0.0.1/", "fields": ["a"]}),
    ):
        problem = client.refused("POST", path, json=body, headers=KEY)
        assert (problem["status"], problem["code"]) == (422, "idempotency_key_reused")
    assert len(client.get("/jobs/runs")) == 1
    assert client.get("/jobs") == []


@pytest.mark.parametrize("second", ["another-key", "the-same-key"])
def test_two_keys_are_refused_because_nobody_knows_which_is_meant(client: Talker, second: str) -> None:
    headers = [("Idempotency-Key", "the-same-key"), ("Idempotency-Key", second)]
    problem = client.refused("POST", "/scraping/async-scrape", json=TASK, headers=headers)
    assert (problem["status"], problem["code"]) == (400, "idempotency_key_ambiguous")
    assert problem["field"] == "Idempotency-Key"
    assert client.get("/scraping/tasks") == []


def test_a_request_that_was_refused_does_not_use_its_key_up(client: Talker) -> None:
    assert client.http.post("/scraping/async-scrape", json={**TASK, "max_depth": 9}, headers=KEY).status_code == 422
    assert client.http.post("/scraping/async-scrape", json=TASK, headers=KEY).status_code == 200


def test_jobs_and_their_runs_take_keys_too(client: Talker, site: Site) -> None:
    body = {"target_url": site.url_for("/ok"), "fields": ["title"]}
    first, second = (client.http.post("/jobs", json=body, headers=KEY) for _ in range(2))
    assert first.json() == second.json()
    assert first.status_code == second.status_code == 201
    run = {"Idempotency-Key": "a-run"}
    made = [client.http.post(f"/jobs/{first.json()['id']}/runs", headers=run).json()["id"] for _ in range(3)]
    assert len(set(made)) == 1
    # Who asks again has not looked at the site again either.
    assert sum(hit.path == "/ok" for hit in site.hits) == 1


@pytest.mark.parametrize("what", ["task", "run"])
def test_fifty_callers_with_one_key_at_once_get_one_run_and_fifty_equal_answers(
    client: Talker, app: App, site: Site, what: str
) -> None:
    path, body = "/scraping/async-scrape", TASK
    if what == "run":
        path, body = f"/jobs/{client.job(site.url_for('/ok'))['id']}/runs", {}

    async def all_at_once(url: str) -> list[Any]:
        limits = httpx2.Limits(max_connections=50)
        async with httpx2.AsyncClient(base_url=url, limits=limits, timeout=30) as http:
            return await asyncio.gather(*(http.post(path, json=body, headers=KEY) for _ in range(50)))

    with serving(app) as live:
        answers = asyncio.run(all_at_once(live.url))
    assert {answer.status_code for answer in answers} == {201 if what == "run" else 200}
    assert len({answer.text for answer in answers}) == 1
    assert len(client.get("/jobs/runs")) == 1
    assert sum(hit.path == "/ok" for hit in site.hits) <= 1


@pytest.mark.parametrize("key", ["", "x" * 256, "with blanks", "ü"])
def test_a_key_that_is_none_is_refused(client: Talker, key: str) -> None:
    problem = client.refused("POST", "/scraping/async-scrape", json=TASK, headers={"Idempotency-Key": key.encode()})
    assert (problem["status"], problem["field"]) == (422, "Idempotency-Key")
