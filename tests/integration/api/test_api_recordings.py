"""Recordings over HTTP, and replays of them: the same records without a browser, until they stop working."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import pytest
from starlette.testclient import TestClient

from tarantella.services.app import App
from tests.integration.api.talking import Talker
from tests.site import Reply, Site, feed
from tests.site.reply import json_reply

FIELDS = ("name", "price", "url")
ALL = {f"Loom & Sons No. {number}" for number in range(1, feed.GOODS + 1)}
UNKNOWN = "0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10"


def replayable(client: Talker, site: Site, way: str = "page", parts: int = 1, **more: Any) -> dict[str, Any]:
    """A job with a recording that was imported."""
    job = client.job(site.url_for("/feed/list"), *FIELDS, **more)
    client.post("/recordings", {"job_id": job["id"], "har": feed.har(site.url, way, parts)})
    return job


def run(client: Talker, job: dict[str, Any]) -> dict[str, Any]:
    return client.ended(client.run_of(job)["id"])


def records(client: Talker, run: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"/jobs/runs/{run['id']}/records?limit=200")
    return found


def names(client: Talker, run: dict[str, Any]) -> list[str]:
    return sorted(record["fields"]["name"] for record in records(client, run))


def paths(site: Site) -> list[str]:
    return sorted(hit.path + ("?" + hit.query if hit.query else "") for hit in site.hits if hit.path != "/robots.txt")


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("way", "parts"), [("page", 1), ("page", 2), ("graphql", 1), ("graphql", 2), ("closed", 1)])
def test_a_replay_follows_the_list_to_its_end_and_asks_for_nothing_else(
    client: Talker, site: Site, way: str, parts: int
) -> None:
    job = replayable(client, site, way, parts)
    ended = run(client, job)
    assert (ended["status"], ended["requested_strategy"], ended["resolved_strategy"]) == (
        "completed",
        "auto",
        "api_replay",
    )
    assert names(client, ended) == sorted(ALL)
    assert len(site.hits) == 6  # five parts, and robots.txt once
    assert {hit.path for hit in site.hits} == {"/robots.txt", f"/feed/api/{way}"}
    [recording] = client.get(f"/recordings?job_id={job['id']}")
    assert (recording["status"], recording["uses"], recording["made_by"]) == ("working", 1, "har")
    # The same once more: nothing was learned that would be in the way.
    assert names(client, run(client, job)) == sorted(ALL)


@pytest.mark.usefixtures("engine")
def test_a_record_says_what_it_would_say_of_the_page(client: Talker, site: Site) -> None:
    ended = run(client, replayable(client, site))
    first = min(records(client, ended), key=lambda record: int(record["fields"]["price"]))
    assert first["url"] == site.url_for("/feed/list")
    assert first["fields"] == {"name": "Loom & Sons No. 1", "price": 7.5, "url": "/feed/goods/1"}
    pages = client.get(f"/jobs/runs/{ended['id']}/pages")
    assert [page["status"] for page in pages] == ["done"] * 5


@pytest.mark.usefixtures("engine")
def test_limits_hold_for_replays(client: Talker, site: Site) -> None:
    for pages in (1, 2):
        ended = run(client, replayable(client, site, max_pages=pages))
        assert len(records(client, ended)) == pages * feed.SIZE
        assert "Page limit reached" in client.messages(ended["id"])
    first_only = client.job(site.url_for("/feed/list"), *FIELDS)
    client.post("/recordings", {"job_id": first_only["id"], "har": feed.har(site.url), "follow": False})
    assert len(records(client, run(client, first_only))) == feed.SIZE


@pytest.mark.usefixtures("engine")
def test_a_host_in_parts_is_replayed_in_all_of_them(client: Talker, site: Site) -> None:
    client.patch("/sites/127.0.0.1", {"parts": 4})
    ended = run(client, replayable(client, site))
    assert (ended["status"], names(client, ended)) == ("completed", sorted(ALL))
    # Whichever part a page is in, it stays there.
    assert len([hit for hit in site.hits if hit.path == "/feed/api/page"]) == 5


@pytest.mark.usefixtures("engine")
def test_an_api_elsewhere_is_asked_at_its_own_gate(client: Talker, site: Site) -> None:
    job = client.job(site.url_for("/feed/list"), *FIELDS, per_host=1)
    elsewhere = site.url_for("", "127.0.0.2")
    client.post("/recordings", {"job_id": job["id"], "har": feed.har(elsewhere)})
    client.http.patch("/sites/127.0.0.2", json={"per_host": 1})
    ended = run(client, job)
    assert names(client, ended) == sorted(ALL)
    assert {hit.hostname for hit in site.hits} == {"127.0.0.2"}
    assert site.peak_by_host["127.0.0.2"] == 1
    assert {record["url"] for record in records(client, ended)} == {site.url_for("/feed/list")}


# -- when it stops working


def status_of(client: Talker, job: dict[str, Any]) -> tuple[str, Any]:
    [recording] = client.get(f"/recordings?job_id={job['id']}")
    return recording["status"], recording["failure"]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        ({"feed changed": 1}, "the field 'name' is gone"),
        ({"feed broken page": 404}, "HTTP 404"),
        ({"feed broken page": 200}, "the answer is no JSON"),
        ({"feed broken page": 403}, "the site refused it: HTTP 403"),
    ],
)
def test_a_recording_that_stops_working_is_told_and_not_used_again(
    client: Talker, site: Site, trouble: dict[str, int], why: str
) -> None:
    job = replayable(client, site, max_attempts=1)
    site.counts.update(trouble)
    ended = run(client, job)
    assert "Recording stopped working" in client.messages(ended["id"])
    assert status_of(client, job) == ("failed", why)
    assert client.run_of(job)["resolved_strategy"] != "api_replay"


@pytest.mark.usefixtures("engine")
def test_a_part_that_stops_working_keeps_the_others(client: Talker, site: Site) -> None:
    job = replayable(client, site, "page")
    before = site.routes["/feed/"]

    async def broken(call: Any) -> Any:
        return Reply(200, b"<html>") if "page=3" in call.request.query else await before(call)

    site.routes["/feed/"] = broken
    ended = run(client, job)
    assert ended["status"] == "partial"
    assert len(records(client, ended)) == feed.GOODS - feed.SIZE
    assert status_of(client, job) == ("failed", "the answer is no JSON")


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ({"goods": [{"attributes": {"productName": "x", "unitPrice": 1}, "link": "y"}] * 100_000, "total": 1}, 5_000),
        ({"goods": [{"attributes": {"productName": "x" * 2_000_000, "unitPrice": 1}, "link": "y"}], "total": 1}, 1),
        ({"goods": [{"attributes": {"productName": None, "unitPrice": 1}, "link": "y"}] * 9, "total": 1}, 0),
        ({"goods": [1, "two", None], "total": 1}, 0),
        ({"goods": {"attributes": 1}}, 0),
        ([[]], 0),
    ],
    ids=["many", "long", "null", "mixed", "object", "empty"],
)
def test_answers_of_any_size_and_form_are_bounded_and_never_a_crash(
    client: Talker, site: Site, answer: Any, kept: int
) -> None:
    job = replayable(client, site)

    async def hostile(_: Any) -> Any:
        return json_reply(answer)

    site.routes["/feed/"] = hostile
    ended = run(client, job)
    assert ended["records"] == kept
    assert ended["status"] == ("completed" if kept else "failed")
    assert ("Page read in part" in client.messages(ended["id"])) is (kept == 5_000)


@pytest.mark.usefixtures("engine")
def test_json_that_is_nested_without_end_is_no_answer(client: Talker, site: Site) -> None:
    job = replayable(client, site)

    async def deep(_: Any) -> Any:
        return Reply(200, b'{"goods":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "application/json")

    site.routes["/feed/"] = deep
    assert run(client, job)["status"] == "failed"
    assert status_of(client, job) == ("failed", "the answer is no JSON")


@pytest.mark.usefixtures("engine")
def test_trouble_that_passes_is_waited_for(client: Talker, site: Site) -> None:
    job = replayable(client, site, backoff={"base": 0.05})
    site.counts["feed broken page"] = 503
    started = client.run_of(job)["id"]
    client.until(f"/jobs/runs/{started}/events", lambda events: any(e["message"] == "Retry scheduled" for e in events))
    site.counts["feed broken page"] = 0
    assert names(client, client.ended(started)) == sorted(ALL)
    assert status_of(client, job) == ("working", None)


@pytest.mark.usefixtures("engine")
def test_an_api_that_nobody_answers_for_is_given_up(client: Talker, site: Site) -> None:
    job = client.job(site.url_for("/feed/list"), *FIELDS, backoff={"base": 0.05})
    client.post("/recordings", {"job_id": job["id"], "har": feed.har("http://127.0.0.1:1")})
    ended = run(client, job)
    assert (ended["status"], ended["failure_detail"]) == ("failed", "recording")
    status, why = status_of(client, job)
    assert status == "failed" and "refused" in why
    # Tried twice: once could have been bad luck.
    [page] = client.get(f"/jobs/runs/{ended['id']}/pages")
    story = client.get(f"/jobs/runs/{ended['id']}/explain?url={site.url_for('/feed/list')}")
    assert len(story["attempts"]) == 2, page


@pytest.mark.usefixtures("engine")
def test_a_site_that_asks_for_less_is_no_reason_to_give_up_its_recording(client: Talker, site: Site) -> None:
    job = replayable(client, site, max_attempts=1)
    site.counts["feed broken page"] = 429
    assert run(client, job)["failure_code"] == "rate_limited"
    assert status_of(client, job) == ("new", None)


@pytest.mark.usefixtures("engine")
def test_a_list_whose_recording_is_deleted_meanwhile_ends_there(client: Talker, site: Site, app: App) -> None:
    job = replayable(client, site, "graphql", per_host=1)
    [recording] = client.get("/recordings")
    before = site.routes["/feed/"]

    async def deleting(call: Any) -> Any:
        if b"c/10" in call.request.body:
            app.database.write_now(lambda tx: tx.execute("DELETE FROM recordings"))
        return await before(call)

    site.routes["/feed/"] = deleting
    ended = run(client, job)
    # Whoever is at it already goes on with what they know of it.
    assert len(records(client, ended)) in (2 * feed.SIZE, feed.GOODS), recording


@pytest.mark.usefixtures("engine")
def test_robots_are_obeyed_as_for_pages(client: Talker, site: Site) -> None:
    site.robots = "User-agent: *\nDisallow: /feed/api/"
    job = replayable(client, site)
    ended = run(client, job)
    assert not [hit for hit in site.hits if hit.path.startswith("/feed/api/")], ended
    assert status_of(client, job)[0] == "failed"


def test_a_job_that_wants_something_else_has_no_recording_any_more(client: Talker, site: Site) -> None:
    job = replayable(client, site)
    assert client.run_of(job)["resolved_strategy"] == "api_replay"
    client.patch(f"/jobs/{job['id']}", {"fields": ["name", "colour"]})
    assert client.run_of(job)["resolved_strategy"] == "http"


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("how", ["redirect", "redirect here", "next"])
def test_what_was_recorded_at_one_server_is_sent_to_no_other(client: Talker, site: Site, how: str) -> None:
    elsewhere = site.url_for("/feed/api/closed", "127.0.0.2")
    here = {"goods": [feed.goods(number) for number in range(1, 4)], "next": elsewhere}

    async def leading_away(call: Any) -> Any:
        if how != "next":
            target = elsewhere if how == "redirect" else site.url_for("/feed/api/other")
            return Reply(302, headers=(("Location", target),))
        return json_reply(here)

    har = feed.har(site.url, "closed")
    har["log"]["entries"][1]["response"]["content"]["text"] = json.dumps(here)
    job = client.job(site.url_for("/feed/list"), *FIELDS)
    client.post("/recordings", {"job_id": job["id"], "har": har})
    site.routes["/feed/"] = leading_away
    ended = run(client, job)
    assert (ended["status"], ended["records"]) == (("completed", 3) if how == "next" else ("failed", 0))
    assert {(hit.hostname, hit.path) for hit in site.hits} == {
        ("127.0.0.1", "/robots.txt"),
        ("127.0.0.1", "/feed/api/closed"),
    }


# -- what can be seen


@pytest.mark.usefixtures("engine")
def test_credentials_are_sent_and_shown_to_nobody_else(client: Talker, site: Site, app: App) -> None:
    job = replayable(client, site, "closed")
    ended = run(client, job)
    assert ended["status"] == "completed"
    [recording] = client.get("/recordings")
    assert recording["question"]["headers"] == {"x-feed-token": "***", "cookie": "***"}
    assert "api_key=***" in recording["question"]["url"]
    asked = ["/recordings", f"/recordings/{recording['id']}", f"/jobs/{job['id']}", "/jobs/runs"]
    asked += [f"/jobs/runs/{ended['id']}/{what}" for what in ("events", "records", "pages", "progress")]
    asked += [f"/jobs/runs/{ended['id']}/export?format={kind}" for kind in ("json", "csv")]
    asked += [f"/jobs/runs/{ended['id']}/explain?url={site.url_for('/feed/list')}"]
    for path in asked:
        answer = client.http.get(path)
        assert answer.status_code == 200, path
        told = answer.content.decode("utf-8", "replace") + repr(answer.headers)
        assert not [secret for secret in (feed.TOKEN, feed.COOKIE, feed.KEY) if secret in told], path
    with sqlite3.connect(app.settings.database) as database:
        for table, column in [
            ("recordings", "template"),
            ("pages", "url"),
            ("pages", "final_url"),
            ("run_events", "meta"),
        ]:
            said = repr(database.execute(f"SELECT {column} FROM {table}").fetchall())
            assert feed.TOKEN not in said and feed.KEY not in said, (table, column)


def test_a_recording_is_described_and_deleted(client: Talker, site: Site) -> None:
    replayable(client, site)
    [recording] = client.get("/recordings")
    assert recording["items"] == "goods"
    assert recording["fields"] == {"name": "attributes.productName", "price": "attributes.unitPrice", "url": "link"}
    assert recording["paging"]["parameter"] == "page"
    assert recording["paging"]["total_at"] == "total"
    assert client.get(f"/recordings/{recording['id']}") == recording
    client.delete(f"/recordings/{recording['id']}")
    assert client.get("/recordings") == []
    assert client.refused("GET", f"/recordings/{recording['id']}")["status"] == 404


def test_a_jobs_recordings_go_with_it(client: Talker, site: Site) -> None:
    job = replayable(client, site)
    client.delete(f"/jobs/{job['id']}")
    assert client.get("/recordings") == []


def test_a_har_that_was_sent_twice_is_imported_once(client: Talker, site: Site) -> None:
    job = client.job(site.url_for("/feed/list"), *FIELDS)
    body = {"job_id": job["id"], "har": feed.har(site.url)}
    answers = [client.http.post("/recordings", json=body, headers={"Idempotency-Key": "k"}).json() for _ in range(2)]
    assert answers[0] == answers[1]
    assert len(client.get("/recordings")) == 1


@pytest.mark.parametrize(
    ("har", "status"),
    [
        ({}, 422),
        ({"log": {"entries": "none"}}, 422),
        ({"log": {"entries": []}}, 422),
        ({"log": {"entries": [1, None, {"request": 3}, {"request": {"url": []}, "response": {"content": 1}}]}}, 422),
    ],
)
def test_what_is_no_har_is_refused(client: Talker, site: Site, har: Any, status: int) -> None:
    job = client.job(site.url_for("/feed/list"), *FIELDS)
    problem = client.refused("POST", "/recordings", json={"job_id": job["id"], "har": har})
    assert (problem["status"], problem["field"]) == (status, "har")


def test_an_unknown_job_or_recording_is_not_found(http: TestClient, client: Talker) -> None:
    for method, path, body in (
        ("POST", "/recordings", {"job_id": UNKNOWN, "har": {}}),
        ("GET", f"/recordings/{UNKNOWN}", None),
        ("DELETE", f"/recordings/{UNKNOWN}", None),
    ):
        assert client.refused(method, path, json=body)["status"] == 404
    assert http.get("/recordings?job_id=nonsense").status_code == 404


@pytest.mark.usefixtures("engine")
def test_a_job_whose_fields_read_json_reads_the_answer_itself(client: Talker, site: Site) -> None:
    fields = [{"name": "n", "jmespath": "attributes.productName"}, {"name": "t", "jmespath": "tags[0]"}]
    job = client.job(site.url_for("/feed/list"), *fields, item={"jmespath": "goods"})
    client.post("/recordings", {"job_id": job["id"], "har": feed.har(site.url)})
    ended = run(client, job)
    assert {record["fields"]["n"] for record in records(client, ended)} == ALL
