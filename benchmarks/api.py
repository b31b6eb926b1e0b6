"""What the HTTP API bears while a crawl goes on beside it: submits, status, streams and long lists."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import orjson
from wreq import Client
from wreq.runtime import Runtime

from benchmarks.contract import Benchmark, Findings, Setting, Table, Wish, say
from benchmarks.rig import disk, library, nginx, server, site
from tarantella.bootstrap import open_app

PAGES_PER_SECOND = 500
CRAWL_LASTS = 200.0  # seconds: longer than all measurements together
CALLERS = 64
STREAMS = 300
SUBMITS_PER_SECOND, STATUS_PER_SECOND = 200, 300
LIST_CALLS = 30
# Nobody answers there: what is submitted waits, and the crawl is all that is fetched.
ELSEWHERE = "http://127.0.0.9:9/"

HOW = """\
`tarantella serve` with one engine, as it is installed. Beside each measurement of {seconds} s a run crawls a site of which nginx serves
{rate} pages a second; the share that it keeps is its pages a second meanwhile, of those before. Submits go to
`POST /scraping/async-scrape`: {callers} callers, each as soon as it has its answer, or {submits} a second whether or not
the last are answered, which is also how status is asked for, {status} times a second. Each submit is committed to the disk before it
is answered; what the disk itself took meanwhile is told by a small file that is flushed {flushes} times a second. {streams} clients read the progress of the crawl; what counts is how much later the last of them had a message than the first.
Lists are pages of a database with {many:,} runs, of which one has {many:,} pages and events, without a crawl."""


@dataclass(slots=True)
class Measured:
    """How long each call took, and what became of the crawl meanwhile."""

    what: str
    seconds: list[float] = field(default_factory=list)
    failures: int = 0
    elapsed: float = 0.0
    pages: int = 0
    lasts: float = 0.0  # how long calls are begun
    disk: list[float] = field(default_factory=list)  # what else was flushed to the same disk meanwhile, in seconds

    @property
    def p99(self) -> float:
        return _p99(self.seconds)

    @property
    def rate(self) -> float:
        return len(self.seconds) / self.elapsed if self.elapsed else 0.0

    @property
    def crawl(self) -> float:
        return self.pages / self.elapsed if self.elapsed else 0.0


def _p99(seconds: Sequence[float]) -> float:
    return quantiles(seconds, n=100)[-1] if len(seconds) > 1 else float("inf")


def run(setting: Setting) -> Findings:
    folder = setting.work_dir / "api"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        beside = _beside_a_crawl(setting, folder)
        lists = _lists(setting, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return _findings(setting, beside, lists)


# -- beside a crawl


def _beside_a_crawl(setting: Setting, folder: Path) -> list[Measured]:
    shape = site.Shape(setting.many)
    made = site.prepare(shape, setting.work_dir)
    with (
        nginx.serving(made, setting.work_dir, per_second=_pace(setting)) as served,
        server.serving(folder / "beside") as url,
    ):
        return asyncio.run(_measure(setting, folder, url, served.start_urls[0]))


def _pace(setting: Setting) -> int:
    return max(1, min(PAGES_PER_SECOND, int(setting.many / CRAWL_LASTS)))


async def _measure(setting: Setting, folder: Path, url: str, start: str) -> list[Measured]:
    client = _client()
    run_id = await _crawl(client, url, start, settled=5 * _pace(setting))
    measured = []
    for what, load in (
        ("nothing", _nothing),
        ("submits, as many as it takes", _submits(url)),
        (f"submits, {SUBMITS_PER_SECOND} a second", _paced(_submit(url), SUBMITS_PER_SECOND)),
        (f"status, {STATUS_PER_SECOND} a second", _paced(_status(url, run_id), STATUS_PER_SECOND)),
        (f"{STREAMS} streams", _streams(url, run_id)),
    ):
        result = Measured(what, lasts=float(setting.repetitions))
        before, began = await _pages(client, url, run_id), time.perf_counter()
        with disk.watched(folder) as result.disk:
            await load(client, result)
        result.elapsed = time.perf_counter() - began
        result.pages = await _pages(client, url, run_id) - before
        say(
            f"{what}: {result.rate:,.0f}/s, p99 {result.p99 * 1e3:.1f} ms, crawl {result.crawl:,.0f} pages/s, "
            f"disk p99 {_p99(result.disk) * 1e3:.1f} ms"
        )
        measured.append(result)
    return measured


Load = Callable[[Client, Measured], Awaitable[None]]
Call = Callable[[Client], Awaitable[bool]]


def _client() -> Client:
    return Client(runtime=Runtime(workers=1), no_proxy=True, timeout=timedelta(seconds=60))


async def _crawl(client: Client, url: str, start: str, settled: int) -> str:
    """Begin a crawl that goes on for longer than we look, and wait until it is at its pace."""
    job = await _post(client, f"{url}/jobs", {"target_url": start, "fields": ["title"], "strategy": "http", **CRAWL})
    run = await _post(client, f"{url}/jobs/{job['id']}/runs", None)
    run_id = str(run["id"])
    while await _pages(client, url, run_id) < settled:
        await asyncio.sleep(0.2)
    return run_id


CRAWL = {"max_depth": 1_000, "max_pages": 1_000_000, "concurrency": 64, "per_host": 64, "text": "none"}


async def _post(client: Client, url: str, body: object) -> dict[str, Any]:
    headers = {"content-type": "application/json"}
    answer = await client.post(url, body=orjson.dumps(body), headers=headers) if body else await client.post(url)
    told = bytes(await answer.bytes())
    if not answer.status.is_success():
        raise server.ServerError(f"{url} answered {answer.status.as_int()}: {told[:500].decode()}")
    found: dict[str, Any] = orjson.loads(told)
    return found


async def _get(client: Client, url: str) -> Any:
    answer = await client.get(url)
    told = bytes(await answer.bytes())
    if not answer.status.is_success():
        raise server.ServerError(f"{url} answered {answer.status.as_int()}: {told[:500].decode()}")
    return orjson.loads(told)


async def _pages(client: Client, url: str, run_id: str) -> int:
    return int((await _get(client, f"{url}/jobs/runs/{run_id}"))["counts"]["done"])


# -- what is done to the API


async def _nothing(_client: Client, result: Measured) -> None:
    await asyncio.sleep(result.lasts)


def _submit(url: str) -> Call:
    body = orjson.dumps({"url": ELSEWHERE})

    async def call(client: Client) -> bool:
        answer = await client.post(
            f"{url}/scraping/async-scrape", body=body, headers={"content-type": "application/json"}
        )
        await answer.bytes()
        return bool(answer.status.is_success())

    return call


def _status(url: str, run_id: str) -> Call:
    async def call(client: Client) -> bool:
        answer = await client.get(f"{url}/scraping/tasks/{run_id}/status")
        await answer.bytes()
        return bool(answer.status.is_success())

    return call


async def _timed(call: Call, client: Client, result: Measured) -> None:
    began = time.perf_counter()
    try:
        succeeded = await call(client)
    except Exception as error:
        say(f"{result.what}: {error}"[:200])
        succeeded = False
    if succeeded:
        result.seconds.append(time.perf_counter() - began)
    else:
        result.failures += 1


def _submits(url: str) -> Load:
    """So many callers, each as soon as it has its answer."""

    async def load(client: Client, result: Measured) -> None:
        call, until = _submit(url), time.perf_counter() + result.lasts

        async def caller() -> None:
            while time.perf_counter() < until:
                await _timed(call, client, result)

        await asyncio.gather(*(caller() for _ in range(CALLERS)))

    return load


def _paced(call: Call, per_second: int) -> Load:
    """So many calls a second, whether or not those before are answered."""

    async def load(client: Client, result: Measured) -> None:
        began, calls = time.perf_counter(), []
        for number in range(int(per_second * result.lasts)):
            wait = began + number / per_second - time.perf_counter()
            if wait > 0:
                await asyncio.sleep(wait)
            calls.append(asyncio.create_task(_timed(call, client, result)))
        await asyncio.gather(*calls)

    return load


def _streams(url: str, run_id: str) -> Load:
    """Many who watch one run; a call is a message, and its time the delay between the first who has it and the last."""

    async def load(client: Client, result: Measured) -> None:
        arrivals: dict[bytes, list[float]] = {}
        counted = asyncio.Event()

        async def watch() -> None:
            async for message in _messages(client, f"{url}/jobs/runs/{run_id}/progress/stream"):
                if counted.is_set():
                    arrivals.setdefault(message, []).append(time.perf_counter())

        watchers = [asyncio.create_task(watch()) for _ in range(STREAMS)]
        await asyncio.sleep(2.0)
        counted.set()
        await asyncio.sleep(result.lasts)
        gone = sum(watcher.done() for watcher in watchers)
        for watcher in watchers:
            watcher.cancel()
        await asyncio.gather(*watchers, return_exceptions=True)
        # What came first and last may have been cut off by our own beginning and end.
        whole = sorted(arrivals.values(), key=min)[2:-2]
        result.seconds.extend(max(times) - min(times) for times in whole)
        result.failures = gone + sum(len(times) != STREAMS for times in whole)

    return load


async def _messages(client: Client, url: str) -> AsyncIterator[bytes]:
    answer = await client.get(url, timeout=timedelta(seconds=120))
    buffer = b""
    async with answer.stream() as chunks:
        async for chunk in chunks:
            *whole, buffer = (buffer + bytes(chunk)).split(b"\n\n")
            for message in whole:
                if b"data:" in message:
                    yield message


# -- long lists


def _lists(setting: Setting, folder: Path) -> list[Measured]:
    data_dir = folder / "lists"
    say(f"filling a database with {setting.many:,} runs, pages, records and events")
    run_id = asyncio.run(_fill(data_dir, setting.many))
    with server.serving(data_dir) as url:
        return asyncio.run(_ask_for_lists(url, run_id))


async def _fill(data_dir: Path, many: int) -> str:
    app = open_app(data_dir=data_dir)
    try:
        return (await library.fill(app, many)).run_id
    finally:
        app.close()


async def _ask_for_lists(url: str, run_id: str) -> list[Measured]:
    client = _client()
    run = f"{url}/jobs/runs/{run_id}"
    measured = []
    for what, address in (
        ("runs", f"{url}/jobs/runs"),
        ("failed runs", f"{url}/jobs/runs?status=failed"),
        ("tasks", f"{url}/scraping/tasks"),
        ("pages", f"{run}/pages"),
        ("failed pages", f"{run}/pages?status=failed"),
        ("events", f"{run}/events"),
        ("records", f"{run}/records"),
    ):
        result = Measured(what)
        began = time.perf_counter()
        for _ in range(LIST_CALLS):
            start = time.perf_counter()
            await _get(client, address)
            result.seconds.append(time.perf_counter() - start)
        result.elapsed = time.perf_counter() - began
        say(f"a page of {what}: {median(result.seconds) * 1e3:.1f} ms, p99 {result.p99 * 1e3:.1f} ms")
        measured.append(result)
    return measured


# -- what it comes to


def _findings(setting: Setting, beside: Sequence[Measured], lists: Sequence[Measured]) -> Findings:
    alone, flood, submits, status, streams = beside
    slowest = max(lists, key=lambda each: median(each.seconds))
    kept = min(each.crawl for each in beside[1:]) / alone.crawl if alone.crawl else 0.0
    return Findings(
        tables=[_crawl_table(beside), _list_table(lists)],
        raw=[asdict(each) for each in (*beside, *lists)],
        wishes=[
            Wish("submits", flood.rate, 1_000, "/s", at_most=False),
            Wish(f"p99 of a submit at {SUBMITS_PER_SECOND}/s", submits.p99 * 1e3, 25, "ms"),
            Wish(f"p99 of a status at {STATUS_PER_SECOND}/s", status.p99 * 1e3, 20, "ms"),
            Wish(
                f"a message at the last of {STREAMS} clients after the first",
                max(streams.seconds, default=float("inf")),
                1,
                "s",
            ),
            Wish("what the crawl kept of its rate, at least", kept, 0.9, at_most=False),
            Wish(f"slowest median of a list, {slowest.what}", median(slowest.seconds) * 1e3, 50, "ms"),
        ],
        notes=[
            HOW.format(
                seconds=setting.repetitions,
                rate=_pace(setting),
                callers=CALLERS,
                submits=SUBMITS_PER_SECOND,
                status=STATUS_PER_SECOND,
                streams=STREAMS,
                flushes=disk.PER_SECOND,
                many=setting.many,
            )
        ],
        complaints=[f"{each.what}: {each.failures} calls failed" for each in (*beside, *lists) if each.failures],
    )


def _crawl_table(beside: Sequence[Measured]) -> Table:
    alone = beside[0].crawl
    rows = [
        [
            each.what,
            f"{each.rate:,.0f}" if each.seconds else "",
            f"{median(each.seconds) * 1e3:.1f}" if each.seconds else "",
            f"{each.p99 * 1e3:.1f}" if each.seconds else "",
            f"{_p99(each.disk) * 1e3:.1f}",
            f"{each.crawl:,.0f}",
            f"{each.crawl / alone:.0%}" if alone else "",
        ]
        for each in beside
    ]
    return Table(("beside a crawl", "a second", "median ms", "p99 ms", "disk p99 ms", "crawl pages/s", "kept"), rows)


def _list_table(lists: Sequence[Measured]) -> Table:
    rows = [[each.what, f"{median(each.seconds) * 1e3:.1f}", f"{each.p99 * 1e3:.1f}"] for each in lists]
    return Table(("a page of a list", "median ms", "p99 ms"), rows)


BENCHMARK = Benchmark("api", "What does the HTTP API bear beside a crawl?", run)
