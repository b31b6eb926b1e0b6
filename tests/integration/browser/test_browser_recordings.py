"""What a real Chromium hears becomes a recording; the next run gives the same records without one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from tarantella.api.app import make_api
from tarantella.bootstrap import open_app
from tarantella.settings import load
from tests.browsers import program_or_skip
from tests.integration.api.conftest import site_in_a_thread, working
from tests.integration.api.talking import Talker
from tests.integration.crawling import LOOPBACK
from tests.site import Reply, Site, feed

FIELDS = [{"name": name, "css": f".{name}"} for name in ("name", "price", "stock")]
ALL = [feed.shown(number) for number in range(1, feed.GOODS + 1)]
SECRETS = (feed.TOKEN, feed.COOKIE, feed.KEY)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talker]:
    """The API with an engine that has a browser, one for all tests here: starting it takes longer than most of them."""
    app = open_app(load(data_dir=tmp_path_factory.mktemp("data"), allow_networks=LOOPBACK, browser=program_or_skip()))
    try:
        with TestClient(make_api(app), base_url="http://127.0.0.1:8000") as talking, working(app):
            yield Talker(talking)
    finally:
        app.close()


@pytest.fixture
def site() -> Iterator[Site]:
    with site_in_a_thread() as served:
        yield served


def list_job(client: Talker, site: Site, way: str, strategy: str = "api_replay", **more: Any) -> dict[str, Any]:
    """A job for a list whose scripts ask for all of its parts."""
    path = f"/feed/list?way={way}&parts={1 if 'pagination' in more else 99}"
    return client.job(site.url_for(path), *FIELDS, item=".goods", strategy=strategy, **more)


def run(client: Talker, job: dict[str, Any]) -> dict[str, Any]:
    """A run, once it is over, with its events by their messages."""
    ended = client.ended(client.run_of(job)["id"])
    told = {event["message"]: event["meta"] for event in client.get(f"/jobs/runs/{ended['id']}/events")}
    return {**ended, "told": told}


def fields(client: Talker, run: dict[str, Any]) -> list[dict[str, Any]]:
    records = client.get(f"/jobs/runs/{run['id']}/records?limit=200")
    return sorted(
        (record["fields"] for record in records), key=lambda found: int(str(found["name"]).rpartition(" ")[2])
    )


def asked(site: Site) -> set[str]:
    return {hit.path for hit in site.hits}


@pytest.mark.parametrize("way", feed.WAYS)
def test_a_run_without_a_recording_makes_one_and_the_next_gives_the_same_records_without_a_browser(
    client: Talker, site: Site, way: str
) -> None:
    job = list_job(client, site, way)
    first = run(client, job)
    assert (first["status"], first["resolved_strategy"]) == ("completed", "api_replay")
    assert first["told"]["Strategy escalated"]["to"] == "browser"
    assert first["told"]["Recording made"]["confidence"] > 0.9
    assert fields(client, first) == ALL
    site.log.reset()
    second = run(client, job)
    assert second["status"] == "completed", second
    assert fields(client, second) == ALL
    assert asked(site) <= {"/robots.txt", f"/feed/api/{way}"}
    assert "Recording stopped working" not in second["told"]
    said = repr(client.get(f"/recordings?job_id={job['id']}")) + repr(second["told"]) + repr(first["told"])
    said += repr([client.get(f"/jobs/runs/{each['id']}/pages") for each in (first, second)])
    assert not [secret for secret in SECRETS if secret in said]


def test_when_the_answer_changes_the_browser_takes_over_and_records_again(client: Talker, site: Site) -> None:
    job = list_job(client, site, "page")
    run(client, job)
    site.counts["feed changed"] = 1
    changed = run(client, job)
    assert changed["told"]["Recording stopped working"]["why"] == "the field 'name' is gone"
    assert changed["told"]["Strategy escalated"]["reason"] == "recording"
    assert changed["told"]["Recording made"]["fields"]["name"] == "details.title"
    assert (changed["status"], changed["attempt"]) == ("completed", 1)
    assert fields(client, changed) == ALL
    site.log.reset()
    again = run(client, job)
    assert fields(client, again) == ALL
    assert asked(site) <= {"/robots.txt", "/feed/api/page"}
    assert [each["status"] for each in client.get(f"/recordings?job_id={job['id']}")] == ["working", "failed"]


@pytest.mark.parametrize("status", [404, 403, 200])
def test_when_the_question_is_refused_the_browser_takes_over(client: Talker, site: Site, status: int) -> None:
    job = list_job(client, site, "page", backoff={"base": 0.05})
    run(client, job)
    before = site.routes["/feed/"]

    async def moved(call: Any) -> Any:
        """The page asks elsewhere now, and the old place is closed."""
        if call.request.path == "/feed/api/page":
            return Reply(status, b"<html>closed", "text/html")
        if call.request.path == "/feed/api/page2":
            return feed.answer(call, "page")
        reply = await before(call)
        assert reply is not None
        return Reply(200, reply.body.replace(b"/feed/api/page?", b"/feed/api/page2?"))

    site.routes["/feed/"] = moved
    ended = run(client, job)
    assert "Recording stopped working" in ended["told"]
    assert (ended["status"], fields(client, ended)) == ("completed", ALL)
    assert "/feed/api/page2" in ended["told"]["Recording made"]["url"]


def test_a_page_whose_data_was_elsewhere_is_rendered_where_it_is(client: Talker, site: Site) -> None:
    job = list_job(client, site, "page")
    har = feed.har(site.url_for("", "127.0.0.2"), "nowhere")
    client.post("/recordings", {"job_id": job["id"], "har": har})
    site.counts["feed broken nowhere"] = 404
    ended = run(client, job)
    assert {hit.hostname for hit in site.hits if hit.path == "/feed/api/nowhere"} == {"127.0.0.2"}
    assert "Recording stopped working" in ended["told"]
    assert (ended["status"], fields(client, ended)) == ("completed", ALL)
    assert ended["told"]["Recording made"]["url"].startswith(site.url)


def test_pages_of_a_list_that_people_click_through_are_replayed_as_parts(client: Talker, site: Site) -> None:
    job = list_job(client, site, "page", pagination="a.next")
    first = run(client, job)
    assert (first["counts"]["done"], fields(client, first)) == (5, ALL)
    site.log.reset()
    second = run(client, job)
    assert (second["counts"]["done"], fields(client, second)) == (5, ALL)
    assert asked(site) <= {"/robots.txt", "/feed/api/page"}


@pytest.mark.parametrize(("way", "parts"), [("cursor", 1), ("cursor", 2), ("page", 3)])
def test_who_looks_at_the_first_parts_alone_gets_those_again(client: Talker, site: Site, way: str, parts: int) -> None:
    url = site.url_for(f"/feed/list?way={way}&parts={parts}")
    job = client.job(url, *FIELDS, item=".goods", strategy="api_replay")
    for _ in range(2):
        assert fields(client, run(client, job)) == ALL[: parts * feed.SIZE]
    assert [each["uses"] for each in client.get(f"/recordings?job_id={job['id']}")] == [1]


def test_a_browser_job_that_becomes_auto_replays(client: Talker, site: Site) -> None:
    job = list_job(client, site, "graphql", strategy="browser")
    assert "Recording made" in run(client, job)["told"]
    client.patch(f"/jobs/{job['id']}", {"strategy": "auto"})
    site.log.reset()
    ended = run(client, job)
    assert (ended["resolved_strategy"], fields(client, ended)) == ("api_replay", ALL)
    assert asked(site) <= {"/robots.txt", "/feed/api/graphql"}


def test_an_auto_job_that_is_for_a_browser_replays_what_that_heard(client: Talker, site: Site) -> None:
    job = list_job(client, site, "page", strategy="auto", browser={"scroll": 2})
    first, second = run(client, job), run(client, job)
    assert (first["resolved_strategy"], second["resolved_strategy"]) == ("browser", "api_replay")
    assert fields(client, first) == fields(client, second) == ALL
    client.patch("/sites/127.0.0.1", {"strategy": "browser"})
    assert client.run_of(job)["resolved_strategy"] == "browser"
    client.patch("/sites/127.0.0.1", {"strategy": None})


def test_a_page_whose_values_are_in_no_answer_is_not_recorded_and_says_so(client: Talker, site: Site) -> None:
    fields = [{"name": "heading", "css": "h1"}]
    job = client.job(site.url_for("/feed/list?way=page"), *fields, strategy="api_replay")
    ended = run(client, job)
    assert ended["told"]["No recording made"]["why"] == "no answer holds the values of all fields"
    assert client.get(f"/recordings?job_id={job['id']}") == []
