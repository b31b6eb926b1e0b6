"""What a fleet is worth: workers over PostgreSQL beside an engine over SQLite, more workers, small runs, and a long queue."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.contract import Benchmark, Findings, Setting, Table, Wish, say
from benchmarks.rig import nginx, site
from benchmarks.rig.far_hosts import host
from benchmarks.rig.measure import REPOSITORY

if TYPE_CHECKING:
    from tests.fleet import Fleet, WorkerProcess
    from tests.serving import ServerProcess

FAR_HOSTS, FAR_MS = 200, 50
SLOTS = 10  # requests that one worker may have in flight at far hosts
WORKERS = (1, 2, 4)
RUNS_AT_A_TIME = 100
PATIENCE = 600.0
# A server as it is usually set up, whose commits are durable; its files are in memory if there is room.
POSTGRES = ("shared_buffers=256MB", "max_wal_size=2GB", "max_connections=200")

HOW = """\
PostgreSQL, Redis, `tarantella serve` and `tarantella worker` on this machine, all of them on the same cores as the site. First one run over a
site of {pages:,} pages from nginx: an engine of `tarantella serve` on SQLite, then a worker with one process on PostgreSQL. Then {hosts} hosts that answer after
{wait} ms, with {far:,} pages in all and one request at a time to each host, as one run; each worker process may have {slots} requests in flight. Pages/s are those
between the start and the end of the run. Messages are those that were put into Celery's queue meanwhile. Small runs are runs of one page, with two worker processes and {at_a_time}
running at a time; what counts is the time from when {small:,} are queued until half as many more are done, and then the same with {many:,}. Idle latency is from a submit's commit to the beginning of its first attempt."""


@dataclass(frozen=True, slots=True)
class Figures:
    embedded: float
    one_worker: float
    far: dict[int, float]
    messages: int
    far_pages: int
    latencies: list[float]
    small: float
    small_behind_many: float
    grown: int  # bytes, of the process that grew most


def run(setting: Setting) -> Findings:
    missing = [name for name in ("celery", "redis", "psycopg", "psutil", "pytest", "httpx2") if find_spec(name) is None]
    if missing:
        return Findings([], [], absent={"fleet": f"{', '.join(missing)} not installed: ./setup bench installs them"})
    from tests.postgres import find_binaries
    from tests.redis import find_binary

    if find_binaries() is None or find_binary() is None:
        return Findings([], [], absent={"fleet": "PostgreSQL or Redis is not installed"})
    folder = setting.work_dir / "fleet"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        return _findings(setting, _measure(setting, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measure(setting: Setting, folder: Path) -> Figures:
    embedded = _embedded(setting, folder)
    one_worker = _one_worker(setting, folder)
    far: dict[int, float] = {}
    messages = pages = 0
    for workers in WORKERS:
        far[workers], sent, pages = _far(setting, folder, workers)
        messages = max(messages, sent)
    latencies, small, behind, grown = _small_runs(setting, folder)
    return Figures(embedded, one_worker, far, messages, pages, latencies, small, behind, grown)


# -- one site


def _embedded(setting: Setting, folder: Path) -> float:
    from tests.serving import ServerProcess

    with _nginx(setting) as start, ServerProcess(folder / "embedded", engines=1) as server:
        speed = _speed(server, _crawl(server, start, setting))
    say(f"one engine on SQLite: {speed:,.0f} pages/s")
    return speed


def _one_worker(setting: Setting, folder: Path) -> float:
    with _nginx(setting) as start, _fleet(folder / "one") as fleet, fleet.serve() as server, fleet.work(1):
        fleet.until_workers(1)
        speed = _speed(server, _crawl(server, start, setting))
    say(f"one worker on PostgreSQL: {speed:,.0f} pages/s")
    return speed


@contextmanager
def _nginx(setting: Setting) -> Iterator[str]:
    with nginx.serving(site.prepare(site.Shape(setting.pages), setting.work_dir), setting.work_dir) as served:
        nginx.warm_up(served)
        yield served.start_urls[0]


def _crawl(server: ServerProcess, start: str, setting: Setting) -> str:
    many = setting.concurrency
    return _run(server, target_url=start, concurrency=many, per_host=many, max_pages=1_000_000)


# -- many hosts


def _far(setting: Setting, folder: Path, workers: int) -> tuple[float, int, int]:
    """Pages a second of so many workers, how many messages that took, and of how many pages."""
    each = max(2, setting.pages // 1_000)
    slots = {"TARANTELLA_ENGINE_SLOTS": str(SLOTS)}
    with ExitStack() as stack:
        port = stack.enter_context(_far_hosts(FAR_HOSTS, each))
        fleet = stack.enter_context(_fleet(folder / f"far{workers}"))
        server = stack.enter_context(fleet.serve())
        for _ in range(workers):
            stack.enter_context(fleet.work(1, env=slots))
        fleet.until_workers(workers)
        before = _sent(fleet)
        wanted = {"scope": "any", "concurrency": 1_000, "per_host": 1, "obey_robots": False}
        run_id = _run(server, target_url=f"http://{host(0)}:{port}/", **wanted)
        speed = _speed(server, run_id)
        pages = server.get(f"/jobs/runs/{run_id}/progress")["counts"]["total"]
        say(f"{workers} workers at {FAR_HOSTS} far hosts: {speed:,.0f} pages/s")
        return speed, _sent(fleet) - before, pages


@contextmanager
def _far_hosts(hosts: int, pages: int, wait_ms: int = FAR_MS) -> Iterator[int]:
    command = [sys.executable, "-m", "benchmarks.rig.far_hosts", str(hosts), str(pages), str(wait_ms)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.kill()


def _sent(fleet: Fleet) -> int:
    """How many messages were ever put into a queue of this broker."""
    with fleet.redis() as client:
        return int(client.info("commandstats").get("cmdstat_lpush", {"calls": 0})["calls"])


# -- small runs


def _small_runs(setting: Setting, folder: Path) -> tuple[list[float], float, float, int]:
    env = {"TARANTELLA_MAX_CONCURRENT_TASKS": str(RUNS_AT_A_TIME)}
    with (
        _far_hosts(FAR_HOSTS, 1, wait_ms=1) as port,
        _fleet(folder / "small") as fleet,
        fleet.serve(env=env) as server,
        fleet.work(2, env=env) as worker,
    ):
        fleet.until_workers(2)
        latencies = _latencies(fleet, server, port, setting.repetitions)
        few, before = _few(setting), _memory(server, worker)
        small = _drained(fleet, server, port, queued=few, counted=few // 2)
        behind = _drained(fleet, server, port, queued=setting.many, counted=few // 2)
        after = _memory(server, worker)
        grown = max(after[pid] - before[pid] for pid in before if pid in after)
    return latencies, small, behind, grown


def _few(setting: Setting) -> int:
    return max(20, setting.many // 50)


def _latencies(fleet: Fleet, server: ServerProcess, port: int, repetitions: int) -> list[float]:
    """Seconds from a submit to its first request, with nothing else to do."""
    tasks = []
    for number in range(max(3, repetitions)):
        tasks.append(server.submit(f"http://{host(number)}:{port}/p/1"))
        server.until_over(tasks[-1])
        time.sleep(0.5)
    rows = fleet.rows(
        "SELECT a.started_at - r.created_at AS seconds FROM runs AS r JOIN pages AS p ON p.run_id = r.id "
        "JOIN attempts AS a ON a.page_id = p.id WHERE r.id = ANY(%s)",
        tasks,
    )
    found = [float(row["seconds"]) for row in rows]
    say(f"idle, submit to first request: median {median(found) * 1e3:.0f} ms")
    return found


def _drained(fleet: Fleet, server: ServerProcess, port: int, *, queued: int, counted: int) -> float:
    """Runs a second until so many are done, from when all of these are queued: some of them are done by then."""
    _enqueue(fleet, port, queued)
    server.submit(f"http://{host(0)}:{port}/p/1")  # whoever hears of it finds all the others
    done, began = _done(fleet), time.monotonic()
    while (ended := _done(fleet) - done) < counted:
        if time.monotonic() - began > PATIENCE:
            raise RuntimeError(f"only {ended} of {counted} runs are done")
        time.sleep(0.1)
    speed = ended / (time.monotonic() - began)
    say(f"small runs, {queued:,} queued, {done:,} done before: {speed:,.0f} runs/s")
    return speed


def _done(fleet: Fleet) -> int:
    [row] = fleet.rows("SELECT count(*) AS n FROM runs WHERE status = 'completed'")
    return int(row["n"])


def _enqueue(fleet: Fleet, port: int, count: int) -> None:
    """Queue runs of one page each, as many submits would, without waiting for each."""
    from tarantella.bootstrap import open_app
    from tarantella.domain.outcome import Link
    from tarantella.domain.spec import Spec
    from tarantella.domain.url import fingerprint, start_url
    from tarantella.settings import Settings
    from tarantella.store import submission
    from tarantella.store.ids import new_id
    from tarantella.store.submission import Submission

    app = open_app(Settings(data_dir=fleet.folder / "bench", database_url=fleet.database_url))
    spec = Spec(depth=1, allow_networks=("127.0.0.0/8",), obey_robots=False, text="none")
    try:
        for first in range(0, count, 1_000):
            urls = [
                start_url(f"http://{host(number % FAR_HOSTS)}:{port}/p/1")
                for number in range(first, min(count, first + 1_000))
            ]
            links = [Link(url.href, fingerprint(url.href), url.lane, 1) for url in urls]
            batch = [Submission(new_id(), spec, link, "scraping", time.time()) for link in links]
            app.database.write_now(partial(submission.store, batch=batch, max_running=RUNS_AT_A_TIME))
    finally:
        app.close()


def _memory(server: ServerProcess, worker: WorkerProcess) -> dict[int, int]:
    import psutil

    return {pid: psutil.Process(pid).memory_info().rss for pid in (server.pid, worker.pid, *worker.children())}


# -- both


@contextmanager
def _fleet(folder: Path) -> Iterator[Fleet]:
    from tests.fleet import new_fleet
    from tests.postgres import Server, find_binaries
    from tests.redis import RedisServer, binary_or_skip

    binaries = find_binaries()
    assert binaries is not None
    folder.mkdir(parents=True)
    with (
        Server(binaries, settings=POSTGRES) as postgres,
        RedisServer(binary_or_skip(), folder) as redis,
        new_fleet(folder, postgres, redis) as fleet,
    ):
        yield fleet


def _run(server: ServerProcess, **job: Any) -> str:
    wanted = {"fields": ["title"], "strategy": "http", "text": "none", "max_depth": 1_000, **job}
    made = server.client.post("/jobs", json=wanted)
    made.raise_for_status()
    return str(server.client.post(f"/jobs/{made.json()['id']}/runs").json()["id"])


def _speed(server: ServerProcess, run_id: str) -> float:
    """Pages a second of a run, from its start to its end."""
    from datetime import datetime

    seen = server.until(
        lambda: server.get(f"/jobs/runs/{run_id}"), lambda found: found["finished_at"] is not None, PATIENCE
    )
    seconds = datetime.fromisoformat(seen["finished_at"]) - datetime.fromisoformat(seen["started_at"])
    counts = server.get(f"/jobs/runs/{run_id}/progress")["counts"]
    if counts["done"] != counts["total"]:
        raise RuntimeError(f"the crawl is not complete: {counts}")
    return float(counts["total"] / seconds.total_seconds())


def _findings(setting: Setting, found: Figures) -> Findings:
    one = found.far[1]
    rows: Sequence[Sequence[str]] = [
        ["one engine on SQLite, pages/s", f"{found.embedded:,.0f}"],
        ["one worker on PostgreSQL, pages/s", f"{found.one_worker:,.0f}"],
        *([f"{workers} workers at far hosts, pages/s", f"{speed:,.0f}"] for workers, speed in found.far.items()),
        ["messages in the longest of these", f"{found.messages:,} for {found.far_pages:,} pages"],
        ["small runs, runs/s", f"{found.small:,.0f}"],
        [f"the same behind {setting.many:,} runs, runs/s", f"{found.small_behind_many:,.0f}"],
        ["memory that the largest growth took meanwhile, MB", f"{found.grown / 1e6:,.0f}"],
        ["idle, submit to first request, median ms", f"{median(found.latencies) * 1e3:,.0f}"],
    ]
    wishes = [
        Wish("a worker on PostgreSQL ÷ an engine on SQLite", found.one_worker / found.embedded, 0.4, at_most=False),
        Wish("two workers ÷ one, at far hosts", found.far[2] / one, 1.8, at_most=False),
        Wish("four workers ÷ one, at far hosts", found.far[4] / one, 3.2, at_most=False),
        Wish("messages for 200 pages", 200 * found.messages / found.far_pages, 1.0),
        Wish("small runs a second", found.small, 150.0, at_most=False),
        Wish("idle, submit to first request", median(found.latencies) * 1e3, 150.0, "ms"),
        Wish("small runs behind many ÷ without", found.small_behind_many / found.small, 0.8, at_most=False),
        Wish("memory for the queue", found.grown / 1e6, 50.0, "MB"),
    ]
    each = max(2, setting.pages // 1_000)
    how = HOW.format(
        pages=setting.pages,
        hosts=FAR_HOSTS,
        wait=FAR_MS,
        far=1 + FAR_HOSTS * each,
        slots=SLOTS,
        small=_few(setting),
        at_a_time=RUNS_AT_A_TIME,
        many=setting.many,
    )
    raw = [{name: getattr(found, name) for name in Figures.__slots__}]
    return Findings([Table(("", "figure"), rows)], raw, wishes=wishes, notes=[how])


BENCHMARK = Benchmark("fleet", "What are workers on PostgreSQL and Redis worth, and what does a long queue cost?", run)
