"""A server whose parts die: whatever is killed, a restart goes on by itself, and nothing is lost or stored twice."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarantella.bootstrap import open_app
from tarantella.cli.signals import SAME_WISH_SECONDS
from tarantella.settings import load
from tests.contract.world import World
from tests.fault.processes import SiteProcess, until
from tests.serving import ServerProcess, is_alive
from tests.site.pages import tree_path, tree_paths

TREE = {"depth": 3, "fan": 4, "delay_ms": 100}
QUICK_TO_NOTICE = {"TARANTELLA_STALL_SECONDS": "7"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    with SiteProcess(tmp_path_factory.mktemp("site")) as process:
        yield process


@pytest.fixture(autouse=True)
def _unseen(site: SiteProcess) -> None:
    site.reset()


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


def begin(server: ServerProcess, site: SiteProcess) -> str:
    """Submit a tree of 85 pages, and wait until some of it is done."""
    url = site.url_for(tree_path(TREE["depth"], TREE["fan"], delay_ms=TREE["delay_ms"]))
    task = server.submit(url, max_depth=4)
    server.until(lambda: server.status(task), lambda seen: seen["completed_items"] >= 5)
    return task


def check_complete(server: ServerProcess, site: SiteProcess, task: str, database_url: str | None = None) -> None:
    """Every page of the tree is there once, and the store adds up."""
    ended = server.until_over(task)
    assert (ended["status"], ended["completed_items"], ended["total_items"]) == ("completed", 85, 85)
    asked = {"/tree" + url.partition("/tree")[2] for url in site.hits() if "/tree" in url}
    assert asked == set(tree_paths(TREE["depth"], TREE["fan"], TREE["delay_ms"]))
    app = open_app(load(data_dir=server.data_dir, database_url=database_url))
    try:
        World(app.database).check()
    finally:
        app.close()


def test_an_engine_that_is_killed_is_replaced_and_the_run_goes_on(site: SiteProcess, data_dir: Path) -> None:
    with ServerProcess(data_dir) as server:
        task = begin(server, site)
        [engine] = server.engine_pids()
        os.kill(engine, signal.SIGKILL)
        check_complete(server, site, task)
        [seen] = server.get("/system")["engines"]
        assert (seen["restarts"], seen["last_end"]) == (1, "signal 9")


def test_after_the_api_was_killed_its_engine_ends_and_a_restart_goes_on(site: SiteProcess, data_dir: Path) -> None:
    with ServerProcess(data_dir) as server:
        task = begin(server, site)
        [engine] = server.engine_pids()
        server.kill_api()
        until(lambda: not is_alive(engine), 20, "the engine of a dead server still lives")
        with ServerProcess(data_dir) as again:
            check_complete(again, site, task)


def test_after_all_was_killed_at_once_a_restart_goes_on(site: SiteProcess, data_dir: Path) -> None:
    with ServerProcess(data_dir, engines=2) as server:
        task = begin(server, site)
        server.kill()
    with ServerProcess(data_dir, engines=2) as again:
        check_complete(again, site, task)


def test_on_postgresql_too_a_restart_goes_on(site: SiteProcess, data_dir: Path, postgres_url: str) -> None:
    env = {"TARANTELLA_DATABASE_URL": postgres_url}
    with ServerProcess(data_dir, engines=2, env=env) as server:
        task = begin(server, site)
        os.kill(server.engine_pids()[0], signal.SIGKILL)
        server.kill()
    with ServerProcess(data_dir, env=env) as again:
        check_complete(again, site, task, postgres_url)
        assert again.get("/system")["database"] == "postgresql"
        [host] = again.get("/sites")
        assert host["host"] == "127.0.0.1"


def test_a_frozen_engine_is_reported_then_replaced_and_the_run_goes_on(site: SiteProcess, data_dir: Path) -> None:
    with ServerProcess(data_dir, env=QUICK_TO_NOTICE) as server:
        task = begin(server, site)
        [engine] = server.engine_pids()
        os.kill(engine, signal.SIGSTOP)
        not_ready = server.until(lambda: server.client.get("/readyz"), lambda answer: answer.status_code == 503)
        assert "no engine has made progress" in not_ready.json()["engines"]
        assert server.client.get("/healthz").status_code == 200
        check_complete(server, site, task)
        assert not is_alive(engine)
        assert "it has given no sign of life" in server.errors


# Run by every Python before it does anything else: the first engine is one whose fetches never come back.
STUCK_ONCE = """
import sys
if "engine" in sys.orig_argv:
    from pathlib import Path
    try:
        Path(__file__).with_name("stuck").touch(exist_ok=False)
    except FileExistsError:
        pass
    else:
        import asyncio
        from tarantella.fetchers.http import HttpFetcher
        async def never(self, request):
            await asyncio.Event().wait()
        HttpFetcher.fetch = never
"""


def test_an_engine_that_beats_and_has_work_but_gets_nothing_done_is_reported_then_replaced(
    site: SiteProcess, data_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "sabotage").mkdir()
    (tmp_path / "sabotage" / "sitecustomize.py").write_text(STUCK_ONCE)
    # A page may take a second here, and one that is on its way is no reason to worry for three times as long.
    env = {**QUICK_TO_NOTICE, "TARANTELLA_HTTP_TIMEOUT_SECONDS": "1", "PYTHONPATH": str(tmp_path / "sabotage")}
    with ServerProcess(data_dir, env=env) as server:
        [stuck] = server.engine_pids()
        assert (tmp_path / "sabotage" / "stuck").exists()
        task = server.submit(site.url_for("/ok"))
        server.until(lambda: server.client.get("/readyz"), lambda answer: answer.status_code == 503)
        until(lambda: "An engine makes no progress" in server.errors, 5, "nobody was told")
        assert is_alive(stuck), "told before it is killed"
        assert server.until_over(task)["status"] == "completed"
        assert not is_alive(stuck)
        assert "it has had work and made no progress" in server.errors
        [seen] = server.get("/system")["engines"]
        assert (seen["restarts"], seen["last_end"]) == (1, "signal 9")


def test_a_stop_drains_costs_no_attempt_and_the_next_start_goes_on(site: SiteProcess, data_dir: Path) -> None:
    # On another host, so that nobody else waits for it.
    page = site.url_for("/slow?s=20", "127.0.0.2")
    with ServerProcess(data_dir) as server:
        slow = server.submit(page, retry_attempts=1)
        server.until(lambda: site.hits()[page], lambda hits: hits == 1)
        task = begin(server, site)
        [engine] = server.engine_pids()
        server.signal(signal.SIGTERM)
        assert server.wait(20) == 0
        assert not is_alive(engine)
        assert not (data_dir / "server.json").exists()
    with ServerProcess(data_dir) as again:
        # Its only attempt was cut off by the stop: had that been charged, it would not be asked for once more.
        again.until(lambda: site.hits()[page], lambda hits: hits == 2)
        assert again.status(slow)["failed_items"] == 0
        check_complete(again, site, task)


def test_a_second_signal_stops_at_once_and_leaves_no_engine_behind(site: SiteProcess, data_dir: Path) -> None:
    with ServerProcess(data_dir, engines=2) as server:
        server.submit(site.url_for("/slow?s=60"))
        server.until(lambda: site.log()["hits"], lambda hits: any(hit["path"] == "/slow" for hit in hits))
        engines = server.engine_pids()
        server.signal(signal.SIGINT)
        until(lambda: "Stopping" in server.errors, 10, "the server did not hear the first signal")
        time.sleep(SAME_WISH_SECONDS)
        server.signal(signal.SIGINT)
        assert server.wait(2) == 130
        until(lambda: not any(map(is_alive, engines)), 2, "an engine outlived its server")
