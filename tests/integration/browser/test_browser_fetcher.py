"""What a browser makes of a page: rendered, waited for, acted on, and bounded whatever the page does."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

import pytest

from tarantella.domain.failure import Failure
from tarantella.fetchers.contract import FetchError, Response
from tests.integration.browser.conftest import Lab
from tests.site import Call, Reply
from tests.site.scripted import LOGIN, PASSWORD


def test_a_page_is_given_as_its_scripts_have_left_it_in_a_window_of_1280_by_720(lab: Lab) -> None:
    found = lab.fetch("/scripted/shown")
    html = found.body.decode()
    assert "<title>Shown by a script</title>" in html
    assert '<p id="width">1280</p><p id="height">720</p>' in html
    assert '<p id="agent">Tarantella/test</p>' in html
    assert (found.status, found.headers["content-type"]) == (200, "text/html; charset=utf-8")


def test_what_a_page_asks_for_is_waited_for(lab: Lab) -> None:
    assert "tarantula" in lab.html("/scripted/fetched?s=0.8")


def test_what_a_busy_script_asks_for_at_its_end_is_waited_for(lab: Lab) -> None:
    assert "tarantula" in lab.html("/scripted/works-first?ms=1200")


def test_what_nothing_announces_is_waited_for_where_it_is_named(lab: Lab) -> None:
    arrived = '<p class="late">At last</p>'
    assert arrived not in lab.html("/scripted/late?ms=1500")
    assert arrived in lab.html("/scripted/late?ms=1500", browser={"wait_for": ".late"})


def test_a_page_with_nothing_on_it_is_given_a_moment_more(lab: Lab) -> None:
    assert '<p class="late">At last</p>' in lab.html("/scripted/blank?ms=1500")
    assert "At last" in lab.html("/scripted/blank?ms=60000")  # nothing comes: its script says it, and the page is read


@pytest.mark.parametrize("path", ["/wall/checking?ms=2500&id=1", "/wall/checking-in-place?ms=2500"])
def test_a_check_that_lets_browsers_through_by_itself_is_waited_for(lab: Lab, path: str) -> None:
    found = lab.fetch(path)
    assert b"<title>Looms</title>" in found.body
    assert found.status == 200


def test_one_that_does_not_is_read_as_it_is_after_a_while(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tarantella.fetchers.browser.acting.CHECK_SECONDS", 1.0)
    found = lab.fetch("/wall/checking?ms=60000&id=2")
    assert (found.status, b"Just a moment" in found.body) == (503, True)


def test_nobody_waits_for_a_page_that_refuses(lab: Lab) -> None:
    began = time.monotonic()
    assert "permission" in lab.html("/wall/in-words")
    assert time.monotonic() - began < 5


def test_what_never_comes_is_a_timeout(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tarantella.fetchers.browser.visit.SECONDS", 1.0)
    found = lab.failure("/ok", browser={"wait_for": ".nowhere"})
    assert (found.failure, found.detail) == (Failure.TIMEOUT, "wait_for")


def items(html: str) -> int:
    return len(re.findall(r"<li[^>]*>\d+</li>", html))


def test_a_list_without_an_end_is_scrolled_as_far_as_was_asked_for(lab: Lab) -> None:
    assert items(lab.html("/scripted/endless-list")) == 10
    assert items(lab.html("/scripted/endless-list", browser={"scroll": 2})) == 30


def test_a_button_for_more_is_clicked_while_it_is_there(lab: Lab) -> None:
    assert items(lab.html("/scripted/endless-list?by=click", browser={"load_more": "#more"})) == 50
    few = {"load_more": "#more", "load_more_times": 2}
    assert items(lab.html("/scripted/endless-list?by=click", browser=few)) == 30


def test_actions_fill_in_a_login_and_what_is_behind_it_is_read(lab: Lab) -> None:
    steps = [
        {"click": "#cookie-banner", "optional": True},
        {"fill": "#name", "value": LOGIN},
        {"fill": "#password", "secret": "PASSWORD"},
        {"click": "#go"},
        {"wait": ".secret"},
    ]
    found = lab.fetch("/scripted/login", browser={"actions": steps}, secrets={"PASSWORD": PASSWORD}, owner="login")
    assert "The honey is in the cellar" in found.body.decode()
    assert found.url == lab.url("/scripted/members")
    assert [(cookie.name, cookie.value) for cookie in found.cookies] == [("member", "yes")]


def test_an_action_that_can_not_be_done_is_a_timeout(lab: Lab) -> None:
    found = lab.failure("/ok", browser={"actions": [{"click": "#nowhere"}]})
    assert (found.failure, found.detail) == (Failure.TIMEOUT, "action")


def test_pictures_fonts_and_films_are_left_out_unless_they_are_wanted(lab: Lab) -> None:
    lab.fetch("/scripted/asks-for-all")
    assert set(lab.asked()) == {"/scripted/asks-for-all", "/scripted/asset.css"}
    lab.site.log.reset()
    lab.fetch("/scripted/asks-for-all", browser={"block": []})
    assert {"/scripted/asset.css", "/scripted/asset.png", "/scripted/asset.woff2"} <= set(lab.asked())


def test_a_picture_and_the_html_are_kept_where_that_was_asked_for(lab: Lab) -> None:
    found = lab.fetch("/scripted/shown", browser={"screenshot": True, "keep_html": True})
    picture, html = found.artifacts
    assert (picture.kind, picture.data[:8]) == ("screenshot", b"\x89PNG\r\n\x1a\n")
    assert (html.kind, html.data) == ("html", found.body)


def test_data_is_given_as_it_came(lab: Lab) -> None:
    found = lab.fetch("/scripted/data")
    assert (found.headers["content-type"], found.body) == ("application/json", b'{"word": "tarantula", "from": 0}')


@pytest.mark.parametrize(("path", "status"), [("/404", 404), ("/403", 403), ("/500", 500)])
def test_an_error_is_an_answer(lab: Lab, path: str, status: int) -> None:
    assert lab.fetch(path).status == status


# -- pages that do what they can


def test_a_script_without_an_end_is_a_timeout_before_and_after_the_page_is_there(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tarantella.fetchers.browser.visit.SECONDS", 1.0)
    first = lab.failure("/scripted/busy")
    later = lab.failure("/scripted/busy?ms=100")
    assert (first.failure, first.detail) == (Failure.TIMEOUT, "navigation")
    assert (later.failure, later.detail) == (Failure.TIMEOUT, "script")
    assert lab.fetch("/ok").status == 200


def test_a_page_that_never_answers_is_a_timeout(lab: Lab) -> None:
    began = time.monotonic()
    found = lab.failure("/never")
    assert (found.failure, found.detail) == (Failure.TIMEOUT, "navigation")
    assert time.monotonic() - began < 15


def test_a_page_that_grows_too_large_is_given_up(lab: Lab) -> None:
    found = lab.failure("/scripted/huge?mb=3", max_decoded=2_000_000)
    assert (found.failure, found.detail) == (Failure.TOO_LARGE, "decoded")
    endless = lab.failure("/scripted/endless-body", max_body=1_000_000)
    assert (endless.failure, endless.detail) == (Failure.TOO_LARGE, "body")


def test_windows_and_questions_that_nobody_wanted_are_closed(lab: Lab) -> None:
    assert "Still here" in lab.html("/scripted/popups")
    assert "Answered" in lab.html("/scripted/dialogs")
    assert [page.url for page in lab.pages()] == []


def test_a_download_is_an_answer_without_a_body(lab: Lab) -> None:
    found = lab.fetch("/scripted/download")
    assert (found.status, found.headers["content-type"], found.body) == (200, "application/octet-stream", b"")


@pytest.mark.parametrize("by", ["link", "script"])
def test_a_page_that_begins_a_download_is_read(lab: Lab, by: str) -> None:
    found = lab.fetch(f"/scripted/throws-in?by={by}")
    assert found.headers["content-type"] == "text/html; charset=utf-8"
    assert b"Your download begins" in found.body
    assert found.url.endswith(f"/scripted/throws-in?by={by}")


def test_a_page_that_crashes_fails_alone(lab: Lab) -> None:
    async def crash(call: Call) -> Reply:
        """No page can crash its renderer by itself on every machine, so the browser is told to."""
        page = await lab.page_at("/scripted/crash")
        session = await page.context.new_cdp_session(page)
        gone = asyncio.Event()
        page.on("crash", lambda _: gone.set())
        crashing = asyncio.ensure_future(session.send("Page.crash"))
        crashing.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.wait_for(gone.wait(), 10)
        return Reply(200, b"too late")

    async def both() -> list[Response | BaseException]:
        # What never comes keeps the page open until it crashes, however long that takes.
        crashing = lab.request("/scripted/crash", browser={"wait_for": ".nowhere"})
        pages = (lab.browser.fetch(request) for request in (lab.request("/slow?s=3"), crashing))
        return await asyncio.gather(*pages, return_exceptions=True)

    lab.site.routes["/scripted/crash-now"] = crash
    neighbour, crashed = lab.do(both())
    assert isinstance(neighbour, Response) and neighbour.status == 200
    assert isinstance(crashed, FetchError)
    assert (crashed.failure, crashed.detail) == (Failure.BROWSER, "crashed")


# -- jobs and their contexts


def test_cookies_and_storage_are_a_jobs_own_and_kept_between_its_pages(lab: Lab) -> None:
    def visits(owner: str) -> int:
        return int(lab.html("/scripted/stored", owner=owner).partition('class="visits">')[2].partition("<")[0])

    assert [visits("one"), visits("one"), visits("other"), visits("one"), visits("")] == [1, 2, 1, 3, 1]


def test_headers_for_the_site_go_there_and_nowhere_else(lab: Lab) -> None:
    options: dict[str, Any] = {
        "headers": {"X-Key": "s3cret"},
        "trusted_servers": frozenset({f"127.0.0.1:{lab.site.port}"}),
    }
    assert '"x-key": "s3cret"' in lab.html("/echo", **options)
    elsewhere: dict[str, Any] = {"headers": {"X-Key": "s3cret"}, "trusted_servers": frozenset({"127.0.0.1:1"})}
    assert "s3cret" not in lab.html("/echo", **elsewhere)


def test_what_a_page_asks_for_in_json_is_kept_where_it_is_watched(lab: Lab) -> None:
    [exchange] = lab.fetch("/scripted/fetched?s=0", watch_exchanges=True).exchanges
    assert (exchange.method, exchange.url, exchange.status) == ("GET", lab.url("/scripted/data?s=0.0"), 200)
    assert exchange.body == b'{"word": "tarantula", "from": 0}'
    assert lab.fetch("/scripted/fetched?s=0").exchanges == ()
