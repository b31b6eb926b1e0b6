"""The process dies at its k-th crash point, for every k; what goes on afterwards must not notice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest

from tarantella.crashpoints import EXIT_CODE
from tests.fault.commands import driver, tarantella
from tests.fault.invariants import Crawled, check, read_run, read_runs
from tests.fault.kill_loop import has_schema
from tests.fault.processes import Child, SiteProcess

AT_ONCE = 3
MOST_POINTS = 120
UNFINISHED = ("queued", "running", "paused")


def start_page(site: SiteProcess, key: str) -> str:
    """A small site with one of everything: a retry, a redirect to another host, a 404, a page that robots.txt forbids."""
    elsewhere = site.url_for("/item/moved", "127.0.0.2")
    hrefs = ("/ok", "/404", f"/flaky?code=503&key={key}&n=1", f"/redirect?to={elsewhere}", "/item/private", "/tree?depth=1&fan=2")
    return site.url_for(f"/links?hrefs={quote('|'.join(hrefs), safe='')}")


def assert_complete(run: Crawled, site: SiteProcess, key: str) -> None:
    """Every page ended as it does when nobody disturbs the crawl."""
    ended = {(url, state, reason) for url, (state, reason, _) in run.pages.items()}
    done = ["/ok", f"/flaky?code=503&key={key}&n=1", "/tree?depth=1&fan=2", "/tree?at=0&depth=1&fan=2", "/tree?at=1&depth=1&fan=2"]
    assert ended == {
        *((site.url_for(path), "done", None) for path in done),
        (next(url for url in run.pages if "/links?" in url), "done", None),
        (site.url_for("/item/moved", "127.0.0.2"), "done", None),
        (site.url_for("/404"), "failed", "not_found"),
        (site.url_for("/item/private"), "skipped", "robots"),
    }
    assert run.records.keys() == run.done
    assert run.status == "partial"


def crash(data_dir: Path, *arguments: str, at: int, name: str = "", what: str = "scrape") -> Child:
    env = {"TARANTELLA_CRASH_AT": str(at), "TARANTELLA_CRASH_NAME": name}
    return driver(data_dir, what, *arguments, spec={"scope": "any"}, env=env)


def go_on(data_dir: Path, url: str) -> Crawled:
    """Finish what was begun, as a user would: resume the run if there is one, else ask again."""
    unfinished = has_schema(data_dir) and any(run.status in UNFINISHED for run in read_runs(data_dir))
    ended = has_schema(data_dir) and any(run.status not in UNFINISHED for run in read_runs(data_dir))
    if unfinished or not ended:
        target = ("resume", "latest") if unfinished else ("scrape", url)
        with driver(data_dir, *target, spec={"scope": "any"}) as child:
            assert child.wait() == 0, child.errors
    else:
        # The run had ended when its command died; whoever comes next cleans up.
        with tarantella(data_dir, "runs", "list") as child:
            assert child.wait() == 0, child.errors
    check(data_dir, at_rest=True)
    return read_run(data_dir)


def crash_at_point(folder: Path, site: SiteProcess, k: int) -> bool:
    """Whether the crawl was over before it reached so many points."""
    data_dir, key = folder / f"at-{k}" / "data", f"{folder.name}-{k}"
    data_dir.parent.mkdir()
    url = start_page(site, key)
    with crash(data_dir, url, at=k) as child:
        code = child.wait()
        assert code in (0, EXIT_CODE), child.errors
    if has_schema(data_dir):
        check(data_dir)
    assert_complete(go_on(data_dir, url), site, key)
    return code == 0


def test_a_crawl_survives_its_death_at_every_crash_point(tmp_path: Path, site: SiteProcess) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for first in range(1, MOST_POINTS, AT_ONCE):
            points = range(first, first + AT_ONCE)
            if any(pool.map(lambda k: crash_at_point(tmp_path, site, k), points)):
                print(f"The crawl passes {first} to {points[-1]} crash points.")
                return
    pytest.fail(f"The crawl passes more than {MOST_POINTS} crash points.")
