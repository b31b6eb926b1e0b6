"""What one browser for all pages is worth, on pages that a script writes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import median

import psutil

from benchmarks.contract import Benchmark, Findings, Setting, Table, Wish, say
from benchmarks.rig.measure import REPOSITORY
from tarantella.domain.browsing import Browsing
from tarantella.domain.url import resolve
from tarantella.fetchers.browser.fetcher import BrowserFetcher
from tarantella.fetchers.browser.finding import find_browser
from tarantella.fetchers.browser.means import BrowserMeans
from tarantella.fetchers.contract import Options, Request
from tarantella.fetchers.guard import Guard

AT_ONCE = 2
PAGES = {"tarantella": 40, "new context per page": 16, "new browser per page": 8}
# A context is recycled every 100 pages; the looks are in the middle between, so that like is compared with like.
LOOKS_AFTER = (50, 150, 250, 350, 450, 550)
WAIT_FOR, PROOF = "#height", "1280"
TIMES_A_BROWSER, TIMES_A_CONTEXT = 4.0, 2.0
MOST_GROWTH = 1.3

HOW = """\
Pages of the test site whose content a script writes, read when it is there, {at_once} at a time, the three in turn in each of {rounds}
rounds; the middle of their rates counts. The other two are Playwright alone, as its guide has it, with the same browser and no egress guard."""
HOW_LONG = """\
{long} pages through one browser: the bytes that all its processes, the driver included, have for themselves, and how many processes
there are. Compared are the middle of the first and of the last three looks."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How fast one way was, in one round."""

    way: str
    pages: int
    seconds: float

    @property
    def per_second(self) -> float:
        return self.pages / self.seconds


@dataclass(frozen=True, slots=True)
class Look:
    """What the browser had after so many pages."""

    pages: int
    bytes: int
    processes: int


def run(setting: Setting) -> Findings:
    found = find_browser()
    if found.program is None:
        return Findings((), (), absent={"browser": found.missing.rstrip(".")})
    with _site() as url:
        rates = [rate for _ in range(setting.rounds) for rate in asyncio.run(_round(found.program, url))]
        looks = asyncio.run(_long(found.program, url))
    ours, context, browser = (_middle(rates, way) for way in PAGES)
    growth = median(look.bytes for look in looks[-3:]) / median(look.bytes for look in looks[:3])
    processes = max(look.processes for look in looks) - min(look.processes for look in looks)
    return Findings(
        tables=[
            Table(
                ("way", "pages/s", "times"),
                [[way, f"{_middle(rates, way):.2f}", f"{ours / _middle(rates, way):.1f}"] for way in PAGES],
            ),
            Table(
                ("pages", "memory MB", "processes"),
                [[str(look.pages), f"{look.bytes / 1e6:.0f}", str(look.processes)] for look in looks],
                title=f"One browser over {looks[-1].pages} pages",
            ),
        ],
        raw=[*map(asdict, rates), *map(asdict, looks)],
        wishes=[
            Wish("pages/s, times a new browser per page", ours / browser, TIMES_A_BROWSER, at_most=False),
            Wish("pages/s, times a new context per page", ours / context, TIMES_A_CONTEXT, at_most=False),
            Wish("memory at the end, times that at the beginning", growth, MOST_GROWTH),
            Wish("processes more at one time than at another", processes, 3),
        ],
        notes=[HOW.format(at_once=AT_ONCE, rounds=setting.rounds), HOW_LONG.format(long=LOOKS_AFTER[-1])],
    )


async def _round(program: str, url: str) -> list[Rate]:
    rates = []
    for way, work in (
        ("tarantella", _ours),
        ("new context per page", _contexts),
        ("new browser per page", _browsers),
    ):
        pages = PAGES[way]
        rate = Rate(way, pages, await work(program, [f"{url}?i={number}" for number in range(pages)]))
        say(f"{way}: {rate.per_second:.2f} pages/s")
        rates.append(rate)
    return rates


async def _ours(program: str, urls: Sequence[str]) -> float:
    fetcher, fetch = _fetcher(program)
    try:
        await fetch(urls[0])
        return await _timed(urls, fetch)
    finally:
        await fetcher.close()


def _fetcher(program: str) -> tuple[BrowserFetcher, Callable[[str], Awaitable[None]]]:
    fetcher = BrowserFetcher(Guard(), BrowserMeans(program, pages_at_once=AT_ONCE))
    options = Options(
        "Tarantella/bench", allow_networks=("127.0.0.0/8",), owner="bench", browsing=Browsing(wait_for=WAIT_FOR)
    )

    async def fetch(url: str) -> None:
        _check((await fetcher.fetch(Request(resolve(url), options))).body.decode())

    return fetcher, fetch


async def _contexts(program: str, urls: Sequence[str]) -> float:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program)

        async def fetch(url: str) -> None:
            context = await browser.new_context(viewport={"width": 1280, "height": 720})
            page = await context.new_page()
            await page.goto(url, wait_until="domcontentloaded")
            await page.wait_for_selector(WAIT_FOR, state="attached")
            _check(await page.content())
            await context.close()

        await fetch(urls[0])
        seconds = await _timed(urls, fetch)
        await browser.close()
        return seconds


async def _browsers(program: str, urls: Sequence[str]) -> float:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:

        async def fetch(url: str) -> None:
            browser = await playwright.chromium.launch(executable_path=program)
            page = await browser.new_page(viewport={"width": 1280, "height": 720})
            await page.goto(url, wait_until="domcontentloaded")
            await page.wait_for_selector(WAIT_FOR, state="attached")
            _check(await page.content())
            await browser.close()

        return await _timed(urls, fetch)


async def _timed(urls: Sequence[str], fetch: Callable[[str], Awaitable[None]]) -> float:
    room = asyncio.Semaphore(AT_ONCE)

    async def one(url: str) -> None:
        async with room:
            await fetch(url)

    begin = time.perf_counter()
    await asyncio.gather(*map(one, urls))
    return time.perf_counter() - begin


async def _long(program: str, url: str) -> list[Look]:
    fetcher, fetch = _fetcher(program)
    looks = []
    try:
        for start, end in pairwise((0, *LOOKS_AFTER)):
            await _timed([f"{url}?i={number}" for number in range(start, end)], fetch)
            looks.append(_look(end))
            say(f"{looks[-1].pages} pages: {looks[-1].bytes / 1e6:.0f} MB in {looks[-1].processes} processes")
    finally:
        await fetcher.close()
    return looks


def _look(pages: int) -> Look:
    sizes = []
    for process in psutil.Process().children(recursive=True):
        try:
            # Those of the site, and what pages share with each other, are not the browser's.
            if "tests.site" not in process.cmdline():
                sizes.append(process.memory_full_info().uss)
        except psutil.Error:
            continue
    return Look(pages, sum(sizes), len(sizes))


def _middle(rates: Sequence[Rate], way: str) -> float:
    return median(rate.per_second for rate in rates if rate.way == way)


def _check(html: str) -> None:
    if PROOF not in html:
        raise RuntimeError("A page was read before its script had run.")


@contextmanager
def _site() -> Iterator[str]:
    """The test site, in a process of its own."""
    command = [sys.executable, "-m", "tests.site", "--port", "0"]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip() + "/scripted/shown"
        finally:
            process.terminate()


BENCHMARK = Benchmark("browser", "What is one browser for all pages worth?", run)
