"""Jobs and their runs, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.api.talking import Talker
from tests.site import Site

RUN_KEYS = {
    "id", "job_id", "status", "attempt", "max_attempts", "requested_strategy", "resolved_strategy", "failure_code",
    "error_message", "stats", "created_at", "started_at", "finished_at",
}  # fmt: skip
EVENT_KEYS = {"id", "run_id", "level", "message", "meta", "created_at", "sequence"}


def events(client: Talker, run_id: str) -> dict[str, dict[str, Any]]:
    """The facts of the events of a run, by their messages."""
    return {event["message"]: event["meta"] for event in client.get(f"/jobs/runs/{run_id}/events")}


# -- jobs


def test_a_job_is_answered_as_the_system_before_answered(client: Talker, site: Site) -> None:
    url = site.url_for("/ok")
    answer = client.http.post("/jobs", json={"target_url": url, "fields": ["title"], "strategy": "auto"})
    assert answer.status_code == 201
    job = answer.json()
    assert {
        name: job[name] for name in ("target_url", "fields", "requires_auth", "frequency", "strategy", "status")
    } == {
        "target_url": url,
        "fields": ["title"],
        "requires_auth": False,
        "frequency": "on_demand",
        "strategy": "auto",
        "status": "validated",
    }
    assert client.get(f"/jobs/{job['id']}") == job
    assert client.get("/jobs") == [job]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"fields": []}, "fields"),
        ({"fields": ["title", "title"]}, "fields"),
        ({"fields": ["title", " title "]}, "fields"),
        ({"fields": ["  "]}, "fields"),
        ({"fields": [{"name": "price", "css": "..."}]}, "fields"),
        ({"target_url": "nonsense"}, "target_url"),
        ({"target_url": "ftp://a.example/"}, "target_url"),
        ({"target_url": "http://169.254.169.254/"}, "target_url"),
        ({"frequency": "now and then"}, "frequency"),
        ({"strategy": "magic"}, "strategy"),
        ({"requires_auth": "perhaps"}, "requires_auth"),
        ({"colour": "red"}, "colour"),
        ({"headers": {"Host": "b.example"}}, "headers"),
        ({"headers": {"Content-Length": "5"}}, "headers"),
        ({"max_depth": 0}, "max_depth"),
        ({"proxy": "nonsense://"}, "proxy"),
    ],
)
def test_a_job_that_could_never_work_is_refused_and_the_field_named(
    client: Talker, wrong: dict[str, Any], field: str
) -> None:
    body = {"target_url": "http://127.0.0.1/", "fields": ["title"], **wrong}
    problem = client.refused("POST", "/jobs", json=body)
    assert problem["status"] == 422
    assert problem["field"].split(".")[0] == field
    assert problem["remedy"]
    assert client.get("/jobs") == []


@pytest.mark.parametrize(
    "field",
    [
        {"xpath": "document('/etc/passwd')"},
        {"jmespath": "a["},
        {"regex": "("},
        {"css": "a", "xpath": "//a"},
        {"attr": "href"},
        {"css": "a", "type": "money"},
        {"css": "a", "all": "yes"},
        {"css": "a", "colour": "red"},
        {"css": "a", "fields": [{"name": "b"}]},
    ],
)
def test_a_field_that_makes_no_sense_is_refused(client: Talker, field: dict[str, Any]) -> None:
    body = {"target_url": "http://127.0.0.1/", "fields": [{"name": "price", **field}]}
    problem = client.refused("POST", "/jobs", json=body)
    assert problem["status"] == 422
    assert problem["field"].startswith("fields")


def test_a_host_without_an_address_is_accepted_with_a_warning(client: Talker) -> None:
    job = client.job("http://nobody-lives-here.invalid/")
    assert "nobody-lives-here.invalid" in job["warnings"][0]
    assert job["status"] == "validated"


def test_a_change_makes_a_new_version_and_runs_keep_what_they_were_made_of(client: Talker, site: Site) -> None:
    job = client.job(site.url_for("/ok"), "title", strategy="http", max_depth=2)
    run = client.run_of(job)
    changed = client.patch(f"/jobs/{job['id']}", {"fields": ["title", "text"], "max_depth": None, "max_pages": 5})
    assert (changed["version"], changed["fields"], changed["max_pages"]) == (2, ["title", "text"], 5)
    assert "max_depth" not in changed
    before = client.get(f"/jobs/runs/{run['id']}")["job"]
    assert (before["version"], before["fields"], before["max_depth"]) == (1, ["title"], 2)
    assert client.get(f"/jobs/runs/{client.run_of(job)['id']}")["job"]["version"] == 2
    client.refused("PATCH", f"/jobs/{job['id']}", json={"fields": []})
    assert client.get(f"/jobs/{job['id']}")["version"] == 2


def test_a_secret_is_never_shown_again(client: Talker, site: Site) -> None:
    job = client.job(
        site.url_for("/ok"), headers={"Authorization": "Bearer canary"}, proxy="http://me:canary@127.0.0.1:1"
    )
    assert job["headers"] == {"Authorization": "***"}
    run = client.run_of(job)
    told = [
        client.http.get(path).text for path in (f"/jobs/{job['id']}", "/jobs", f"/jobs/runs/{run['id']}", "/jobs/runs")
    ]
    told.append(client.http.get(f"/jobs/runs/{run['id']}/events").text)
    assert not any("canary" in text for text in told)


def test_a_job_is_deleted_with_its_runs_but_not_while_one_is_under_way(client: Talker) -> None:
    job = client.job("http://127.0.0.1:9/", strategy="http")
    run = client.run_of(job)
    problem = client.refused("DELETE", f"/jobs/{job['id']}")
    assert (problem["status"], problem["code"]) == (409, "conflict")
    assert run["id"] in problem["remedy"]
    client.post(f"/jobs/runs/{run['id']}/cancel")
    client.delete(f"/jobs/{job['id']}")
    for path in (f"/jobs/{job['id']}", f"/jobs/runs/{run['id']}", f"/jobs/{job['id']}/runs"):
        assert client.refused("GET", path)["status"] == 404
    assert client.get("/jobs") == client.get("/jobs/runs") == []
    assert client.refused("POST", f"/jobs/{job['id']}/runs")["status"] == 404


# -- runs


@pytest.mark.usefixtures("engine")
def test_a_run_is_answered_as_the_system_before_answered(client: Talker, site: Site) -> None:
    job = client.job(site.url_for("/item/1"), "title")
    answer = client.http.post(f"/jobs/{job['id']}/runs")
    assert answer.status_code == 201
    run = answer.json()
    assert set(run) >= RUN_KEYS
    assert (run["status"], run["attempt"], run["max_attempts"], run["stats"]) == ("queued", 1, 3, {})
    assert (run["requested_strategy"], run["resolved_strategy"], run["job_id"]) == ("auto", "http", job["id"])
    over = client.ended(run["id"])
    assert over["status"] == "completed"
    assert set(over["stats"]) == {"http_status", "content_type", "content_length", "title", "cost"}
    assert over["stats"]["http_status"] == 200
    told = client.get(f"/jobs/runs/{run['id']}/events")
    assert all(set(event) == EVENT_KEYS for event in told)
    assert [event["sequence"] for event in told] == [1, 2, 3]
    assert [event["message"] for event in told] == ["Run created", "Run started", "Run completed"]
    assert told[0]["meta"]["resolved_strategy"] == "http"
    assert told[1]["meta"] == {"attempt": 1, "strategy": "http"}
    assert told[2]["meta"]["stats"]["title"] == over["stats"]["title"]


@pytest.mark.usefixtures("engine")
def test_fields_come_from_selectors_and_are_found_by_name_and_others_are_null(client: Talker, site: Site) -> None:
    css = {"name": "price", "css": ".price", "attr": "data-amount"}
    job = client.job(site.url_for("/fields"), "title", "colour", css, strategy="http")
    run = client.run_of(job)
    client.ended(run["id"])
    [record] = client.get(f"/jobs/runs/{run['id']}/records")
    assert record["fields"] == {"title": "A loom for beginners", "colour": None, "price": ["49.90", "65.00"]}
    exported = client.http.get(f"/jobs/runs/{run['id']}/export?format=jsonl").json()
    assert exported["fields"] == record["fields"]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("code", "shown", "exact", "attempts"),
    [(403, "blocked", "blocked", 2), (404, "bad_response", "not_found", 1), (500, "bad_response", "bad_response", 2)],
)
def test_a_failure_is_told_by_one_of_six_codes_and_exactly(
    client: Talker, site: Site, code: int, shown: str, exact: str, attempts: int
) -> None:
    quick = {"base": 0.01, "jitter": 0}
    job = client.job(site.url_for(f"/{code}"), strategy="http", max_attempts=2, backoff=quick)
    run = client.ended(client.run_of(job)["id"])
    assert (run["status"], run["failure_code"], run["failure_detail"]) == ("failed", shown, exact)
    assert (run["attempt"], run["error_message"]) == (attempts, f"HTTP {code}")
    assert client.messages(run["id"])[-1] == "Run failed"


# -- strategies


@pytest.mark.parametrize(
    ("path", "resolved"),
    [
        ("/ok", "http"),
        ("/403", "browser"),
        ("/429", "browser"),
        ("/spa", "browser"),
        ("/challenge", "browser"),
        ("/500", "http"),
        ("/redirect?to=/spa", "browser"),
    ],
)
def test_auto_is_resolved_by_a_look_at_the_site(client: Talker, site: Site, path: str, resolved: str) -> None:
    run = client.run_of(client.job(site.url_for(path)))
    assert (run["requested_strategy"], run["resolved_strategy"]) == ("auto", resolved)
    told = events(client, run["id"])
    assert told["Run created"]["resolved_strategy"] == resolved
    assert ("Strategy not available" in told) == (resolved == "browser")


def test_what_requires_a_login_gets_a_browser_without_a_look(client: Talker, site: Site) -> None:
    run = client.run_of(client.job(site.url_for("/ok"), requires_auth=True))
    assert run["resolved_strategy"] == "browser"
    assert site.hits == []


@pytest.mark.parametrize("strategy", ["http", "browser", "api_replay"])
def test_a_strategy_that_was_named_is_used_as_given(client: Talker, site: Site, strategy: str) -> None:
    run = client.run_of(client.job(site.url_for("/403"), strategy=strategy))
    assert run["resolved_strategy"] == strategy
    assert site.hits == []
    assert "Strategy not available" not in events(client, run["id"])


def test_a_site_that_never_answers_is_looked_at_for_two_seconds_and_fetched_with_http(
    client: Talker, site: Site
) -> None:
    import time

    job = client.job(site.url_for("/slow?s=30"))
    began = time.monotonic()
    run = client.run_of(job)
    assert run["resolved_strategy"] == "http"
    assert time.monotonic() - began < 15


def test_a_target_that_is_gone_does_not_make_the_call_fail(client: Talker) -> None:
    assert client.run_of(client.job("http://127.0.0.1:9/"))["resolved_strategy"] == "http"
    assert client.run_of(client.job("http://nobody-lives-here.invalid/"))["resolved_strategy"] == "http"


def test_robots_txt_is_obeyed_before_the_site_is_looked_at(client: Talker, site: Site) -> None:
    site.robots = "User-agent: *\nDisallow: /403"
    assert client.run_of(client.job(site.url_for("/403")))["resolved_strategy"] == "http"
    assert [hit.path for hit in site.hits] == ["/robots.txt"]
