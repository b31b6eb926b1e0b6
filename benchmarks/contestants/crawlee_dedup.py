"""Crawlee as somebody tunes it who knows that it pays per request: duplicates never become one."""

from __future__ import annotations

from urllib.parse import urljoin

from crawlee.crawlers import ParselCrawlingContext

from benchmarks.contestants import crawlee_run

seen: set[str] = set()


async def take(context: ParselCrawlingContext) -> None:
    """Enqueue only the links that no page had before."""
    record, hrefs = crawlee_run.page(context)
    await context.push_data(record)
    new = set(hrefs) - seen
    seen.update(new)
    if new:
        await context.add_requests([urljoin(context.request.url, href) for href in new])


if __name__ == "__main__":
    crawlee_run.main(take)
