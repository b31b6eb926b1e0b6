"""The process dies at its k-th crash point, for every k; what goes on afterwards must not notice."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

from tarantella.crashpoints import EXIT_CODE
from tarantella.domain.event import RUN_REQUEUED
from tarantella.services import runs
from tarantella.services.foreground import work_on
from tarantella.services.submit import new_id, submit
from tests.fault.commands import driver, tarantella
from tests.fault.crawler import quick_app, spec_of
from tests.fault.engines import engine
from tests.fault.invariants import Crawled, check, one_value, read_run, read_runs
from tests.fault.kill_loop import has_schema
from tests.fault.places import NewPlace
from tests.fault.processes import PATIENCE, SiteProcess

AT_ONCE = 3
MOST_POINTS = 120
SPEC = '{"scope": "any"}'


def start_page(site: SiteProcess, key: str) -> str:
    """A small site with one of everything: a retry, a redirect to another host, a 404, a page that robots.txt forbids."""
    elsewhere = site.url_for("/item/moved", "127.0.0.2")
    hrefs = (
        "/ok",
        "/404",
        f"/flaky?code=503&key={key}&n=1",
        f"/redirect?to={elsewhere}",
        "/item/private",
        "/tree?depth=1&fan=2",
    )
    return site.url_for(f"/links?hrefs={quote('|'.join(hrefs), safe='')}")


def assert_complete(run: Crawled, site: SiteProcess, key: str) -> None:
    """Every page ended as it does when nobody disturbs the crawl."""
    ended = {(url, state, reason) for url, (state, reason, _) in run.pages.items()}
    done = [
        "/ok",
        f"/flaky?code=503&key={key}&n=1",
        "/tree?depth=1&fan=2",
        "/tree?at=0&depth=1&fan=2",
        "/tree?at=1&depth=1&fan=2",
    ]
    assert ended == {
        *((site.url_for(path), "done", None) for path in done),
        (next(url for url in run.pages if "/links?" in url), "done", None),
        (site.url_for("/item/moved", "127.0.0.2"), "done", None),
        (site.url_for("/404"), "failed", "not_found"),
        (site.url_for("/item/private"), "skipped", "robots"),
    }
    assert run.records.keys() == run.done
    assert run.status == "partial"


def crash_env(at: int, name: str = "") -> dict[str, str]:
    return {"TARANTELLA_CRASH_AT": str(at), "TARANTELLA_CRASH_NAME": name}


async def go_on(data_dir: Path, url: str) -> None:
    """Finish what was begun, as a user would: resume the run if there is one, else ask again."""
    app = quick_app(data_dir)

    async def prepare(run_id: str, keeper: str) -> None:
        if unfinished:
            await runs.resume(app, run_id, keeper)
        else:
            await submit(app, spec_of(SPEC), [url], run_id=run_id, keeper=keeper)

    try:
        # Whoever comes next notices who is gone, and cleans up.
        await runs.reap(app)
        found = await runs.listed(app)
        unfinished = [run.id for run in found if not run.is_over]
        if unfinished or not found:
            async with asyncio.timeout(PATIENCE):
                await work_on(app, unfinished[0] if unfinished else new_id(), prepare, engines=1)
    finally:
        app.close()


async def finish_duties(data_dir: Path) -> None:
    """What the next worker does at its start."""
    app = quick_app(data_dir)
    try:
        async with engine(app), asyncio.timeout(PATIENCE):
            while await app.database.read(lambda tx: tx.value("SELECT count(*) FROM runs")):
                await asyncio.sleep(0.02)
    finally:
        app.close()


def crash_at_point(data_dir: Path, key: str, site: SiteProcess, k: int) -> bool:
    """Whether the crawl was over before it reached so many points."""
    url = start_page(site, key)
    with driver(data_dir, "scrape", url, spec=json.loads(SPEC), env=crash_env(k)) as child:
        code = child.wait()
        assert code in (0, EXIT_CODE), child.errors
    if has_schema(data_dir):
        check(data_dir)
    asyncio.run(go_on(data_dir, url))
    check(data_dir, at_rest=True)
    assert_complete(read_run(data_dir), site, key)
    return code == 0


@pytest.mark.parametrize(("new_place", "step"), [("sqlite", 1), ("postgresql", 5)], indirect=["new_place"])
def test_a_crawl_survives_its_death_at_every_crash_point(
    tmp_path: Path, new_place: NewPlace, step: int, site: SiteProcess
) -> None:
    """On PostgreSQL at some of them: what a point is about is the same, only the transaction around it is another's."""

    def crash(k: int) -> bool:
        return crash_at_point(new_place(f"at-{k}"), f"{tmp_path.name}-{k}", site, k)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for first in range(1, MOST_POINTS, AT_ONCE * step):
            points = range(first, first + AT_ONCE * step, step)
            if any(pool.map(crash, points)):
                print(f"The crawl passes {first} to {points[-1]} crash points.")
                return
    pytest.fail(f"The crawl passes more than {MOST_POINTS} crash points.")


@dataclass(frozen=True, slots=True)
class Case:
    """A command that dies at a named point, twice: before it and behind it. Then it is given again."""

    command: tuple[str, ...]
    name: str

    def __str__(self) -> str:
        return f"{' '.join(self.command)} at {self.name}"


IN_THE_MIDDLE = [
    *(Case(("runs", "resume", "latest", "--quiet"), name) for name in ("reap", "register", "resume", "take", "retire")),
    *(Case(("runs", "cancel", "latest"), name) for name in ("cancel", "close")),
    Case(("runs", "pause", "latest"), "pause"),
]
AT_THE_END = [
    Case(("runs", "retry-failed", "latest", "--quiet"), "retry"),
    Case(("runs", "delete", "latest", "--yes"), "delete"),
    Case(("export", "latest"), "export"),
]


def in_every_copy(cases: list[Case], original: Path, folder: Path, afterwards: Callable[[Case, Path], None]) -> None:
    """Let each command die at both of its points, each in a copy of its own, and look what became of it."""

    def die(case: Case, at: int) -> None:
        data_dir = folder / f"{case.command[-2]}-{case.name}-{at}" / "data"
        shutil.copytree(original, data_dir)
        with tarantella(data_dir, *case.command, env=crash_env(at, case.name)) as child:
            assert child.wait() == EXIT_CODE, f"{case} did not die at point {at}.\n{child.errors}"
        check(data_dir)
        afterwards(case, data_dir)
        check(data_dir, at_rest=True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for dying in [pool.submit(die, case, at) for case in cases for at in (1, 2)]:
            dying.result()


def test_commands_in_the_middle_of_a_run_survive_their_own_death(tmp_path: Path, site: SiteProcess) -> None:
    original, key = tmp_path / "data", tmp_path.name
    url = start_page(site, key)
    with driver(original, "scrape", url, spec=json.loads(SPEC), env=crash_env(3, "settle")) as child:
        assert child.wait() == EXIT_CODE

    def afterwards(case: Case, data_dir: Path) -> None:
        if "cancel" in case.command:
            with tarantella(data_dir, *case.command) as child:
                assert child.wait() == 0, child.errors
            run = read_run(data_dir)
            assert run.status == "cancelled"
            assert {state for state, _, _ in run.pages.values()} <= {"done", "failed", "skipped"}
        else:
            asyncio.run(go_on(data_dir, url))
            assert_complete(read_run(data_dir), site, key)

    in_every_copy(IN_THE_MIDDLE, original, tmp_path, afterwards)


def test_commands_after_the_end_of_a_run_survive_their_own_death(tmp_path: Path, site: SiteProcess) -> None:
    original, key = tmp_path / "data", tmp_path.name
    url = start_page(site, key)
    with driver(original, "scrape", url, spec=json.loads(SPEC)) as child:
        assert child.wait() == 0, child.errors

    def afterwards(case: Case, data_dir: Path) -> None:
        if "delete" in case.command:
            # Nobody sees a run of which a part is gone; what is left of it is removed by the next crawl.
            before = read_runs(data_dir)
            assert not before or before[0].counts["total"] == len(before[0].pages)
            for run in before:
                with tarantella(data_dir, "runs", "delete", run.id, "--yes") as child:
                    assert child.wait() == 0, child.errors
            asyncio.run(finish_duties(data_dir))
            for table in ("runs", "pages", "records", "attempts", "run_events", "stands", "run_workers"):
                assert one_value(data_dir, f"SELECT count(*) FROM {table}") == 0
        elif "export" in case.command:
            with tarantella(data_dir, *case.command) as child:
                assert child.wait() == 0, child.errors
            [export] = (data_dir / "exports").iterdir()
            exported = [json.loads(line)["final_url"] for line in export.read_text().splitlines()]
            assert sorted(exported) == sorted(read_run(data_dir).done)
        else:
            asyncio.run(go_on(data_dir, url))
            assert_complete(read_run(data_dir), site, key)

    in_every_copy(AT_THE_END, original, tmp_path, afterwards)


def test_a_retry_of_thousands_survives_the_death_of_its_command_between_two_slices(
    tmp_path: Path, site: SiteProcess
) -> None:
    original, pages = tmp_path / "data", 2_500
    urls = [site.url_for(f"/404?n={number}") for number in range(pages)]
    with driver(original, "scrape", *urls, spec={"per_host": 50, "concurrency": 50}) as child:
        assert child.wait() == 0, child.errors
    assert read_run(original).counts["failed"] == pages

    for at in (1, 2):
        data_dir = tmp_path / f"at-{at}" / "data"
        shutil.copytree(original, data_dir)
        command = ("runs", "retry-failed", "latest", "--quiet")
        with tarantella(data_dir, *command, env=crash_env(at, "retake")) as child:
            assert child.wait() == EXIT_CODE, child.errors
        check(data_dir)
        run = read_run(data_dir)
        assert 0 < run.counts["pending"] < pages
        asyncio.run(go_on(data_dir, urls[0]))
        check(data_dir, at_rest=True)
        run = read_run(data_dir)
        assert (run.status, run.counts["failed"], run.events.count(RUN_REQUEUED)) == ("failed", pages, 1)
        # Each was taken back once, and tried once more.
        assert one_value(data_dir, "SELECT count(*) FROM pages WHERE tries <> 3") == 0


def test_a_long_crawl_survives_its_death_while_it_waits(tmp_path: Path, site: SiteProcess) -> None:
    """A lane is released after two idle seconds; beats are written all the time."""
    urls = [site.url_for("/slow?s=2.7"), site.url_for("/item/1", "127.0.0.2")]

    def die(point: tuple[str, int]) -> None:
        name, at = point
        data_dir = tmp_path / f"{name}-{at}" / "data"
        data_dir.parent.mkdir()
        with driver(data_dir, "scrape", *urls, env=crash_env(at, name)) as child:
            assert child.wait() == EXIT_CODE, child.errors
        check(data_dir)
        asyncio.run(go_on(data_dir, urls[0]))
        assert read_run(data_dir).done == set(urls)
        check(data_dir, at_rest=True)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(die, [(name, at) for name in ("release", "beat") for at in (1, 2)]))
