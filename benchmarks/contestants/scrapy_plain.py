"""Scrapy as its tutorial writes it: a request for every link, and its duplicate filter sorts them out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response

from benchmarks.contestants import scrapy_run


class PlainSpider(Spider):
    """Yield every link of every page."""

    name = "plain"

    async def start(self) -> AsyncIterator[Request]:
        # Scrapy's own start() bypasses the duplicate filter: the first page would come twice.
        for url in self.start_urls:
            yield Request(url)

    def parse(self, response: Response, **_: Any) -> Iterator[Request | dict[str, Any]]:
        record, hrefs = scrapy_run.page(response)
        yield record
        for href in hrefs:
            yield Request(response.urljoin(href))


if __name__ == "__main__":
    scrapy_run.main(PlainSpider)
