"""Crawlee as its guides write it: every link of every page is enqueued, and its queue sorts them out."""

from __future__ import annotations

from crawlee.crawlers import ParselCrawlingContext

from benchmarks.contestants import crawlee_run


async def take(context: ParselCrawlingContext) -> None:
    """Enqueue every link of every page."""
    record, _ = crawlee_run.page(context)
    await context.push_data(record)
    await context.enqueue_links()


if __name__ == "__main__":
    crawlee_run.main(take)
