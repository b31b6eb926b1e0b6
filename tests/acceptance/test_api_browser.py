"""Jobs in a browser, over the API of a real server: rows 36, 81, 82 and 86, sessions and artifacts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import psutil
import pytest

from tests.browsers import program_or_skip
from tests.fault.processes import SiteProcess
from tests.serving import ServerProcess

OVER = ("completed", "partial", "failed", "cancelled")
MEMBER = {"name": "member", "value": "yes", "domain": "127.0.0.1", "path": "/"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    with SiteProcess(tmp_path_factory.mktemp("site")) as process:
        yield process


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    env = {"TARANTELLA_BROWSER": program_or_skip()}
    with ServerProcess(tmp_path_factory.mktemp("server") / "data", env=env) as process:
        yield process


def job(server: ServerProcess, url: str, **options: Any) -> dict[str, Any]:
    body = {"target_url": url, "fields": ["title"], "max_attempts": 1, "strategy": "browser", **options}
    answer = server.client.post("/jobs", json=body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def ended(server: ServerProcess, made: dict[str, Any]) -> dict[str, Any]:
    run = server.client.post(f"/jobs/{made['id']}/runs").json()
    return dict(server.until(lambda: server.get(f"/jobs/runs/{run['id']}"), lambda found: found["status"] in OVER))


def records(server: ServerProcess, run: dict[str, Any]) -> list[dict[str, Any]]:
    return list(server.get(f"/jobs/runs/{run['id']}/records"))


def browsers(server: ServerProcess) -> list[psutil.Process]:
    """The browsers below a server: those processes that were not started by a browser."""
    found = []
    for process in psutil.Process(server.pid).children(recursive=True):
        with suppress(psutil.Error):
            arguments = process.cmdline()
            if any("--user-data-dir" in each for each in arguments) and not any(
                "--type=" in each for each in arguments
            ):
                found.append(process)
    return found


def test_row_36_one_browser_shows_many_pages(site: SiteProcess, server: ServerProcess) -> None:
    fields = ["title", {"name": "id", "css": ".id"}]
    one = ended(server, job(server, site.url_for("/list?n=6"), max_depth=2, fields=fields))
    assert (one["status"], one["counts"]["done"]) == ("completed", 7)
    [first] = browsers(server)
    two = ended(server, job(server, site.url_for("/list?n=3"), max_depth=2, fields=fields))
    assert two["counts"]["done"] == 4
    assert [process.pid for process in browsers(server)] == [first.pid]


def test_rows_82_and_86_a_browser_that_was_named_is_used_and_told_of(site: SiteProcess, server: ServerProcess) -> None:
    fields = ["title", {"name": "width", "css": "#width"}, {"name": "height", "css": "#height"}]
    run = ended(server, job(server, site.url_for("/scripted/shown"), fields=fields))
    assert (run["requested_strategy"], run["resolved_strategy"]) == ("browser", "browser")
    cost = run["stats"].pop("cost")
    assert cost["pages_by_strategy"] == {"browser": 1} and cost["browser_seconds"] > 0
    assert run["stats"] == {
        "http_status": 200,
        "content_type": "text/html",
        "content_length": run["bytes"],
        "title": "Shown by a script",
        "browser": "playwright-chromium",
    }
    [record] = records(server, run)
    assert record["fields"] == {"title": "Shown by a script", "width": "1280", "height": "720"}


def test_row_81_a_login_takes_a_browser_with_a_stored_session_and_no_look_before_it(
    site: SiteProcess, server: ServerProcess
) -> None:
    stored = server.client.put("/sessions/bees", json={"cookies": [MEMBER]})
    assert stored.status_code == 200
    assert "yes" not in stored.text
    site.reset()
    members = {"name": "secret", "css": ".secret"}
    made = job(
        server,
        site.url_for("/scripted/members"),
        strategy="auto",
        requires_auth=True,
        session="bees",
        fields=["title", members],
    )
    run = ended(server, made)
    assert (run["status"], run["resolved_strategy"]) == ("completed", "browser")
    assert list(site.hits().values()) == [1]
    assert records(server, run)[0]["fields"]["secret"] == "The honey is in the cellar."
    assert [session["name"] for session in server.get("/sessions")] == ["bees"]
    assert server.client.delete("/sessions/bees").status_code == 204
    assert server.client.delete("/sessions/bees").status_code == 404
    without = ended(server, made)
    assert (without["status"], without["failure_detail"]) == ("failed", "browser")
    assert "sessions import bees" in without["error_message"]


def test_a_picture_and_the_html_of_a_page_can_be_had_and_go_with_their_run(
    site: SiteProcess, server: ServerProcess
) -> None:
    made = job(server, site.url_for("/scripted/shown"), browser={"screenshot": True, "keep_html": True})
    run = ended(server, made)
    path = f"/jobs/runs/{run['id']}/artifacts"
    html, picture = server.get(path)
    assert (html["kind"], picture["kind"], picture["url"]) == ("html", "screenshot", site.url_for("/scripted/shown"))
    seen = server.client.get(f"{path}/{picture['id']}")
    assert (seen.headers["content-type"], seen.content[:4]) == ("image/png", b"\x89PNG")
    read = server.client.get(f"{path}/{html['id']}")
    # A stranger's page must not run in the browser of whoever looks at it here.
    assert read.headers["content-type"] == "text/plain; charset=utf-8"
    assert read.headers["x-content-type-options"] == "nosniff"
    assert "Shown by a script" in read.text
    for nobody in ("17-screenshot", "%2e%2e%2ftarantella.db", "0-html"):
        assert server.client.get(f"{path}/{nobody}").status_code in (404, 405)


@pytest.mark.parametrize(
    ("browser", "field"),
    [
        ({"scroll": -1}, "scroll"),
        ({"wait_for": ""}, "wait_for"),
        ({"actions": [{"click": "#a", "fill": "#b", "value": "x"}]}, "actions"),
        ({"actions": [{"fill": "#a", "secret": "NOBODY"}]}, "actions"),
        ({"actions": [{"evaluate": "alert(1)"}]}, "evaluate"),
        ({"block": ["everything"]}, "block"),
    ],
)
def test_what_a_browser_could_not_do_is_refused_by_name(
    site: SiteProcess, server: ServerProcess, browser: dict[str, Any], field: str
) -> None:
    body = {"target_url": site.url_for("/ok"), "fields": ["title"], "browser": browser}
    answer = server.client.post("/jobs", json=body)
    assert answer.status_code == 422
    assert field in answer.text


def test_what_is_filled_in_is_never_shown(site: SiteProcess, server: ServerProcess) -> None:
    steps = [{"fill": "#name", "value": "bee"}, {"fill": "#password", "secret": "P"}, {"click": "#go"}]
    made = job(server, site.url_for("/scripted/login"), browser={"actions": steps}, fill={"P": "honey & wax"})
    run = ended(server, made)
    assert run["stats"]["title"] == "Welcome"
    told = [server.client.get(path).text for path in (f"/jobs/{made['id']}", f"/jobs/runs/{run['id']}")]
    told += [server.client.get(f"/jobs/runs/{run['id']}/{what}").text for what in ("events", "pages", "records")]
    assert all("wax" not in text for text in told)
    assert server.get(f"/jobs/{made['id']}")["fill"] == {"P": "***"}
