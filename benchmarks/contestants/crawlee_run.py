"""How both Crawlee crawlers are set up, what they take from a page, and how they are started."""

from __future__ import annotations

import argparse
import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson
from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

# With more tasks at a time it is slower, not faster: 8 to 32 are level, 64 cost it a tenth.
MOST_TASKS = 16

Handler = Callable[[ParselCrawlingContext], Awaitable[None]]


def crawler_with(handler: Handler, concurrency: int) -> ParselCrawler:
    """Crawlee's defaults, except where they would slow it down or where they are not comparable."""
    tasks = min(concurrency, MOST_TASKS)
    crawler = ParselCrawler(
        storage_client=MemoryStorageClient(),
        # It would start with ten and feel its way.
        concurrency_settings=ConcurrencySettings(
            min_concurrency=tasks, desired_concurrency=tasks, max_concurrency=tasks
        ),
        respect_robots_txt_file=True,
        configure_logging=False,
    )
    crawler.router.default_handler(handler)
    return crawler


def page(context: ParselCrawlingContext) -> tuple[dict[str, Any], list[str]]:
    """A page's record and the addresses on it, the same as everybody else takes."""
    selector = context.selector
    hrefs = selector.xpath("//a/@href").getall()
    record = {
        "url": context.request.url,
        "title": selector.xpath("//title/text()").get(),
        "description": selector.xpath("//meta[@name='description']/@content").get(),
        "language": selector.xpath("/html/@lang").get(),
        "links": len(hrefs),
    }
    return record, hrefs


def main(handler: Handler) -> None:
    """Crawl with this handler until everything is done; exit 1 when a request failed."""
    parser = argparse.ArgumentParser(description=handler.__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--out", type=Path, required=True, help="JSON lines")
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    asyncio.run(_crawl(handler, options.url, options.concurrency, options.out))


async def _crawl(handler: Handler, url: str, concurrency: int, out: Path) -> None:
    crawler = crawler_with(handler, concurrency)
    statistics = await crawler.run([url])
    if statistics.requests_failed:
        raise SystemExit(f"{statistics.requests_failed} requests failed")
    dataset = await crawler.get_dataset()
    with out.open("wb", buffering=1 << 20) as lines:
        async for record in dataset.iterate_items():
            lines.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
