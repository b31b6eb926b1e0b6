"""The dashboard, as somebody uses it: what they see and press in a real browser."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tarantella.domain.access import Scope
from tarantella.services import tokens
from tarantella.services.app import App
from tarantella.services.filling import fill
from tarantella.services.queue import make_plan
from tests.integration.web.conftest import Dashboard
from tests.scripts import Scripts
from tests.site import Site

T = TypeVar("T")


def told(dashboard: Dashboard, method: str, path: str, body: Any = None) -> Any:
    """What the API says, past the dashboard."""
    answer = httpx2.request(method, dashboard.url + path, json=body)
    assert answer.status_code < 300, answer.text
    return answer.json() if answer.content else None


def made_job(dashboard: Dashboard, url: str, **more: Any) -> str:
    return str(told(dashboard, "POST", "/jobs", {"target_url": url, "fields": ["title"], **more})["id"])


def apart(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine gives. The driver of the browser has this thread's event loop."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result(20)


def figure(page: Page, name: str) -> Any:
    """A figure, by what stands above it."""
    return page.locator(".figures div", has=page.get_by_text(name, exact=True)).locator("dd")


def state(page: Page) -> Any:
    return page.locator("h1 .chip")


@pytest.mark.parametrize(
    ("path", "heading", "words"),
    [
        ("", "Overview", "Nothing has run yet"),
        ("runs", "Runs", "There is no such run"),
        ("jobs", "Jobs", "There is no job yet"),
        ("jobs/new", "New job", "None yet"),
        ("workflows", "Workflows", "There is no such workflow"),
        ("workflows/new", "New workflow", "Steps are done"),
        ("schedules", "Schedules", "No job runs by itself"),
        ("gaps", "Gaps", "There is no such gap"),
        ("sites", "Sites", "No site has been asked"),
        ("workers", "Workers", "In flight"),
        ("nothing/here", "There is no such page", "To the overview"),
    ],
)
def test_every_page_says_what_it_is_for_before_there_is_anything(
    dashboard: Dashboard, path: str, heading: str, words: str
) -> None:
    page = dashboard.open(path)
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    expect(page.locator("main")).to_contain_text(words)


def test_the_root_leads_to_it(dashboard: Dashboard) -> None:
    dashboard.page.goto(dashboard.url)
    expect(dashboard.page).to_have_url(f"{dashboard.url}/dashboard")
    expect(dashboard.page.locator("#pulse")).to_have_text("at work")


def test_what_is_not_there_is_said(dashboard: Dashboard) -> None:
    page = dashboard.open("runs/01890000-0000-7000-8000-000000000000")
    expect(page.get_by_role("alert")).to_contain_text("There is no run")


def test_a_scrape_is_started_and_followed_to_its_end(dashboard: Dashboard, site: Site) -> None:
    page = dashboard.open()
    page.get_by_label("Address").fill(site.url_for("/list?n=7"))
    page.get_by_role("button", name="Start").click()
    expect(state(page)).to_have_text("completed")
    expect(figure(page, "Done")).to_have_text("8 of 8")
    page.get_by_role("tab", name="Pages").click()
    expect(page.locator("tbody tr")).to_have_count(8)
    page.get_by_role("button", name="/item/3").click()
    expect(page.get_by_role("dialog")).to_contain_text("http")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("tab", name="Events").click()
    expect(page.locator("tbody tr").first).to_contain_text("Run completed")
    expect(page.locator("tbody tr").last).to_contain_text("Run created")


def test_what_is_refused_is_said_where_it_was_asked(dashboard: Dashboard) -> None:
    page = dashboard.open()
    page.get_by_label("Address").fill("ftp://127.0.0.1/")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert")).to_contain_text("is not an http or https address")
    expect(page.get_by_label("Address")).to_have_value("ftp://127.0.0.1/")


def test_a_run_is_paused_resumed_and_cancelled(dashboard: Dashboard, site: Site) -> None:
    job = made_job(dashboard, site.url_for("/list?n=60"), max_depth=2, delay_seconds=0.5)
    page = dashboard.open(f"jobs/{job}")
    page.get_by_role("button", name="Run now").click()
    expect(state(page)).to_have_text("running")
    page.get_by_role("button", name="Pause").click()
    expect(state(page)).to_have_text("paused")
    page.get_by_role("button", name="Resume").click()
    expect(state(page)).to_have_text("running")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("dialog").get_by_role("button", name="No").click()
    expect(state(page)).to_have_text("running")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(state(page)).to_have_text("cancelled")


def test_failed_pages_are_seen_and_tried_again(dashboard: Dashboard, site: Site) -> None:
    run = told(dashboard, "POST", f"/jobs/{made_job(dashboard, site.url_for('/404'))}/runs")["id"]
    page = dashboard.open(f"runs/{run}")
    expect(state(page)).to_have_text("failed")
    before = len(site.hits)
    page.get_by_role("button", name="Try failed pages again").click()
    page.get_by_role("tab", name="Events").click()
    expect(page.locator("tbody")).to_contain_text("Run failed")
    expect(state(page)).to_have_text("failed")
    page.wait_for_function("document.querySelectorAll('tbody tr.error').length >= 2")
    assert len(site.hits) > before


def test_a_run_that_somebody_deletes_while_it_is_watched_is_said_to_be_gone(dashboard: Dashboard, site: Site) -> None:
    job = made_job(dashboard, site.url_for("/list?n=60"), max_depth=2, delay_seconds=0.5)
    run = told(dashboard, "POST", f"/jobs/{job}/runs")["id"]
    page = dashboard.open(f"runs/{run}")
    expect(state(page)).to_have_text("running")
    told(dashboard, "POST", f"/jobs/runs/{run}/pause")
    expect(state(page)).to_have_text("paused")
    page.context.set_offline(True)
    told(dashboard, "POST", f"/jobs/runs/{run}/cancel")
    told(dashboard, "DELETE", f"/jobs/runs/{run}")
    page.context.set_offline(False)
    expect(page.get_by_role("alert").first).to_contain_text("There is no run")


def test_the_way_past_the_menu_leads_to_the_content(dashboard: Dashboard) -> None:
    page = dashboard.open("jobs")
    expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")


def test_what_is_laid_over_a_page_goes_with_it_and_gives_the_focus_back(dashboard: Dashboard, site: Site) -> None:
    page = dashboard.open("runs")
    dashboard.open()
    page.get_by_label("Address").fill(site.url_for("/list?n=3"))
    page.get_by_role("button", name="Start").click()
    expect(state(page)).to_have_text("completed")
    story = page.get_by_role("button", name="/item/2")
    story.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    told(dashboard, "POST", "/jobs", {"target_url": site.url, "fields": ["title"]})
    page.wait_for_timeout(6_000)  # longer than until the list is asked for again
    page.keyboard.press("Escape")
    expect(story).to_be_focused()
    story.click()
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")


def test_records_are_saved_as_a_file(dashboard: Dashboard, site: Site, tmp_path: Path) -> None:
    job = made_job(dashboard, site.url_for("/list?n=3"), max_depth=2)
    run = told(dashboard, "POST", f"/jobs/{job}/runs")["id"]
    page = dashboard.open(f"runs/{run}")
    expect(state(page)).to_have_text("completed")
    with page.expect_download() as saving:
        page.get_by_role("button", name="CSV").click()
    saving.value.save_as(tmp_path / "saved.csv")
    with (tmp_path / "saved.csv").open(newline="", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 4


def test_what_was_scraped_is_shown_as_text(dashboard: Dashboard, site: Site) -> None:
    wicked = '<img src=x onerror="broken=1">'
    job = made_job(dashboard, site.url_for("/markup?shape=told-markup"), name=wicked)
    run = told(dashboard, "POST", f"/jobs/{job}/runs")["id"]
    page = dashboard.open(f"runs/{run}")
    expect(state(page)).to_have_text("completed")
    page.reload()
    expect(page.locator("tbody td", has_text=wicked).first).to_be_visible()
    dashboard.open(f"jobs/{job}")
    expect(page.get_by_role("heading", level=1)).to_have_text(wicked)
    assert page.evaluate("typeof broken") == "undefined"
    assert page.locator("main img").count() == 0


def test_a_job_is_made_of_what_stands_on_its_page(dashboard: Dashboard, site: Site) -> None:
    page = dashboard.open("jobs/new")
    page.get_by_label("Target").first.fill(site.url_for("/shop/goods/1"))
    page.get_by_role("button", name="Look at the page").click()
    row = page.locator("tr", has=page.get_by_role("cell", name="price", exact=True))
    row.get_by_role("button", name="Add").click()
    page.get_by_label("Name of the field").fill("headline")
    page.get_by_label("CSS selector").fill("h1")
    page.get_by_role("button", name="Add", exact=True).last.click()
    expect(page.get_by_role("list", name="Fields")).to_contain_text("headline")
    page.get_by_label("Runs by itself").fill("every 20 minutes")
    page.get_by_label("Runs by itself").blur()
    expect(page.locator("form")).to_contain_text("Every 20 minutes. Next:")
    page.get_by_role("button", name="Make the job").click()
    expect(page.locator(".facts").first).to_contain_text("price, headline")
    page.get_by_role("button", name="Run now").click()
    expect(state(page)).to_have_text("completed")
    page.reload()
    expect(page.locator("thead")).to_contain_text("headline")
    dashboard.open("schedules")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    assert told(dashboard, "GET", "/schedules")[0]["paused"]


def test_the_graph_of_a_workflow_shows_its_states_and_it_is_recovered(dashboard: Dashboard, site: Site) -> None:
    job = made_job(dashboard, site.url_for("/404"))
    steps = [
        {"name": "Tidy", "handler": "clean_up"},
        {"name": "Collect", "job": job, "max_retries": 0},
        {"name": "Export", "handler": "export", "dependencies": ["Collect", "Tidy"]},
    ]
    made = told(dashboard, "POST", "/workflows", {"name": "Nightly", "steps": steps})
    page = dashboard.open(f"workflows/{made['id']}")
    for name in ("Tidy", "Collect", "Export"):
        expect(page.get_by_role("button", name=f"{name}: pending")).to_be_visible()
    assert page.locator(".graph .edge").count() == 2
    told(dashboard, "POST", f"/workflows/{made['id']}/cancel")
    expect(state(page)).to_have_text("cancelled")
    expect(page.get_by_role("button", name="Export: cancelled")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Workflow cancelled")


def test_a_definition_is_checked_before_it_is_started(dashboard: Dashboard) -> None:
    page = dashboard.open("workflows/new")
    text = page.get_by_label("Definition")
    text.fill('{"name": "x", "steps": [{"name": "a", "handler": "clean_up", "dependencies": ["a"]}]}')
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_role("alert")).to_contain_text("Step 0 (a) depends on itself")
    text.fill('{"name": "x",}')
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_role("alert")).to_contain_text("This is not JSON")
    text.fill('{"name": "x", "steps": [{"name": "a", "handler": "clean_up"}]}')
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_role("button", name="a: pending")).to_be_visible()
    page.get_by_role("button", name="Start it").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("x")


def test_a_site_is_paused_and_given_a_policy(dashboard: Dashboard, site: Site) -> None:
    told(dashboard, "PATCH", "/sites/127.0.0.1", {"per_host": 2})
    page = dashboard.open("sites")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("button", name="127.0.0.1").click()
    page.get_by_label("Requests at once").fill("")
    page.get_by_label("Seconds between two").fill("1.5")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    policy = told(dashboard, "GET", "/sites/127.0.0.1")["policy"]
    assert (policy["per_host"], policy["delay"], policy["paused"]) == (None, 1.5, True)


def test_a_token_is_asked_for_and_stays_in_its_tab(app: App, dashboard: Dashboard) -> None:
    _, text = apart(tokens.create(app, None, Scope.READ))
    page = dashboard.open()
    page.get_by_label("Token").fill("tt_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not valid")
    page.get_by_label("Token").fill(text)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    assert page.context.cookies() == []
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.get_by_label("Address").fill("http://127.0.0.1:9/")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert")).to_contain_text("write")  # a token to read with may not start anything
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_token_that_is_revoked_is_asked_for_again(app: App, dashboard: Dashboard) -> None:
    apart(tokens.create(app, None, Scope.READ))  # the server goes on asking for one
    token, text = apart(tokens.create(app, None, Scope.READ))
    page = dashboard.open("workers")
    page.get_by_label("Token").fill(text)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Workers")
    apart(tokens.revoke(app, token.id))
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_long_name_is_read_on_a_telephone(dashboard: Dashboard, app: App, tmp_path: Path) -> None:
    scripts = Scripts(tmp_path / ("long" * 30))
    scripts.folder.mkdir()
    scripts.script("works", "print('saved 3 records')")
    scripts.gap("works")
    scripts.tasks[0]["id"] = "x" * 150
    file = scripts.write()
    apart(fill(app, make_plan(file, scripts.folder / "config" / "scraper_config.yaml", scripts.folder)))
    dashboard.page.set_viewport_size({"width": 390, "height": 800})
    page = dashboard.open("gaps")
    expect(page.get_by_role("button", name="xxx")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    box = page.get_by_role("button", name="xxx").bounding_box()
    assert box is not None and box["width"] > 100


def test_gaps_are_seen_with_what_their_scripts_said_and_done_again(
    dashboard: Dashboard, app: App, tmp_path: Path
) -> None:
    scripts = Scripts(tmp_path)
    scripts.script("fails", "import sys; print('<b>well</b>'); sys.exit('no luck')")
    name = scripts.gap("fails", "HIGH", season="2024-25")
    plan = make_plan(tmp_path / "inventory" / "gaps.json", tmp_path / "config" / "scraper_config.yaml", tmp_path)
    apart(fill(app, plan))
    page = dashboard.open("gaps?status=failed")
    page.get_by_role("button", name=name).click()
    expect(page.get_by_role("dialog")).to_contain_text("<b>well</b>")
    expect(page.get_by_role("dialog")).to_contain_text("exit code 1: no luck")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Have the failed ones done again").click()
    expect(page.get_by_role("dialog")).to_contain_text("1 will be done again")
    assert [gap["status"] for gap in told(dashboard, "GET", "/gaps")] == ["pending"]
