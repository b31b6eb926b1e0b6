"""The store is locked, refuses, or answers that it failed when it did not: the crawl waits, says so, and loses nothing."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest

from tarantella.domain.errors import StoreBusy
from tarantella.services import runs
from tarantella.services.submit import submit
from tarantella.store import schema
from tarantella.store.connection import DriverError
from tarantella.store.database import Database
from tarantella.store.dialect import Place
from tarantella.store.tx import Tx
from tests.fault.commands import driver, tarantella
from tests.fault.crawler import quick_app, spec_of
from tests.fault.engines import engine, until_over
from tests.fault.invariants import check, read_run
from tests.fault.locking import locked
from tests.fault.places import on_both
from tests.fault.processes import Child, SiteProcess, until
from tests.site import tree_path, tree_paths

T = TypeVar("T")

DEPTH, FAN, DELAY_MS = 3, 4, 50
SPEC = {"concurrency": 4, "per_host": 4}
# Root may write everywhere, unless it gives up the right to.
WITHOUT_PRIVILEGE = (
    "import ctypes, os, sys; PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1; "
    "assert ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0) == 0; os.execv(sys.argv[1], sys.argv[1:])"
)


def start_url(site: SiteProcess) -> str:
    return site.url_for(tree_path(DEPTH, FAN, (), DELAY_MS))


def all_urls(site: SiteProcess) -> set[str]:
    return {site.url_for(path) for path in tree_paths(DEPTH, FAN, DELAY_MS)}


@on_both
def test_a_crawl_waits_for_a_locked_store_says_so_and_goes_on(site: SiteProcess, data_dir: Path) -> None:
    with driver(data_dir, "scrape", start_url(site), spec=SPEC) as child:
        child.until_it_tells("run")
        until(lambda: len(site.hits()) > 10, 20, "nothing is fetched")
        with locked(data_dir):
            trouble = child.until_it_tells("trouble", 20)
            assert "has not answered for more than 2 s" in trouble["text"]
            # What was in flight may still come in; nothing new is begun.
            until(lambda: site.log()["in_flight"] == 0, 10, "something is still in flight")
            before = site.hits()
            time.sleep(1.0)
            assert site.hits() == before
        assert child.until_it_tells("trouble", 20)["text"] is None
        assert child.wait() == 0, child.errors
    assert read_run(data_dir).done == all_urls(site)
    assert set(site.hits().values()) == {1}
    check(data_dir, at_rest=True)


@on_both
def test_a_store_that_is_busy_for_longer_than_anyone_waits_loses_nothing(site: SiteProcess, data_dir: Path) -> None:

    async def crawl() -> None:
        impatient = quick_app(data_dir, database=lambda place: Database(place, patience=0.3))
        try:
            run_id = await submit(impatient, spec_of('{"concurrency": 4}'), [start_url(site)])
            async with engine(impatient):
                while (await runs.get(impatient, run_id)).counts.done < 5:
                    await asyncio.sleep(0.02)
                with locked(data_dir):
                    await asyncio.sleep(2.0)
                await until_over(impatient, run_id)
        finally:
            impatient.close()

    asyncio.run(crawl())
    assert read_run(data_dir).done == all_urls(site)
    check(data_dir, at_rest=True)


class LyingDatabase(Database):
    """Now and then a write fails before its commit, or is committed and said to have failed."""

    def __init__(self, place: Place, luck: random.Random) -> None:
        super().__init__(place)
        self._luck = luck
        self.lies = 0

    def _write(self, work: Callable[[Tx], T], name: str, *, patient: bool = True) -> T:
        mood = self._luck.random()
        if name in ("submit", "register", "retire") or mood > 0.4:
            return super()._write(work, name, patient=patient)
        self.lies += 1
        if mood > 0.2:
            super()._write(work, name, patient=patient)
        raise StoreBusy("It is said that this failed.")


@on_both
def test_a_write_that_failed_or_only_seemed_to_is_sent_again_without_harm(
    site: SiteProcess, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    # In this process only: after a second each, forty lies would be forty seconds.
    monkeypatch.setattr("tarantella.engine.settler.RETRY_SECONDS", 0.02)

    async def crawl() -> int:
        lying: list[LyingDatabase] = []

        def database(place: Place) -> Database:
            lying.append(LyingDatabase(place, random.Random(seed)))
            return lying[0]

        app = quick_app(data_dir, database=database)
        try:
            run_id = await submit(app, spec_of('{"concurrency": 6}'), [start_url(site)])
            async with engine(app):
                await until_over(app, run_id)
        finally:
            app.close()
        return lying[0].lies

    assert asyncio.run(crawl()) > 5
    run = read_run(data_dir)
    assert (run.status, run.done) == ("completed", all_urls(site))
    check(data_dir, at_rest=True)


def without_privilege(data_dir: Path, *arguments: str) -> Child:
    """The real command line, bound by permissions even when root runs the tests."""
    command = [sys.executable, "-m", "tarantella", *arguments, "--data-dir", str(data_dir)]
    if os.geteuid() == 0:
        if sys.platform != "linux":
            pytest.skip("Root may write everywhere.")
        command = [sys.executable, "-c", WITHOUT_PRIVILEGE, *command]
    return Child(command, data_dir.parent)


@pytest.mark.parametrize("used_before", [False, True])
def test_a_data_directory_that_cant_be_written_is_a_clear_error(
    site: SiteProcess, data_dir: Path, used_before: bool
) -> None:
    if used_before:
        with driver(data_dir, "scrape", site.url_for("/ok")) as child:
            assert child.wait() == 0, child.errors
    data_dir.mkdir(exist_ok=True)
    paths = [data_dir, *data_dir.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        with without_privilege(data_dir, "scrape", site.url_for("/ok"), "--allow-network", "127.0.0.0/8") as child:
            assert child.wait() == 1
    finally:
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)
    [line] = child.errors.splitlines()
    assert line.startswith("error: ")
    assert str(data_dir) in line
    assert "--data-dir" in line or "own its folder" in line
    if used_before:
        check(data_dir, at_rest=True)


def damage(data_dir: Path) -> None:
    """Zeros over all that is in the file but its first page, as a failing disk or a slip of the hand leaves them."""
    path = data_dir / "tarantella.db"
    with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as db:
        # What is still in the log would be read from there.
        while db.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()[0]:
            pass
        [size] = db.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek(size)
        file.write(bytes(path.stat().st_size - size))


def test_a_database_that_is_damaged_during_a_crawl_ends_it_and_is_told(site: SiteProcess, data_dir: Path) -> None:
    with tarantella(data_dir, "scrape", start_url(site), "--depth", "all", "--allow-network", "127.0.0.0/8") as child:
        until(lambda: len(site.hits()) > 10, 20, "nothing is fetched")
        damage(data_dir)
        assert child.wait() == 1
    assert_told_of_damage(child, data_dir)
    with tarantella(data_dir, "runs", "resume", "latest") as child:
        assert child.wait() == 1
    assert_told_of_damage(child, data_dir)


def assert_told_of_damage(child: Child, data_dir: Path) -> None:
    [said] = [line for line in child.errors.splitlines() if line.startswith("error: ")]
    assert f"{data_dir / 'tarantella.db'} is damaged" in said
    assert "`tarantella doctor`" in said
    assert "Restore it from a copy" in said


def test_what_is_no_json_is_not_called_a_damaged_database(data_dir: Path) -> None:
    path = data_dir / "tarantella.db"
    schema.prepare(path)
    opened = Database(path)
    with pytest.raises(DriverError, match="malformed JSON"):
        opened.read_now(lambda tx: tx.value("SELECT json('{')"))
    assert opened.damage is None
    opened.close()
