"""How both Scrapy spiders are set up, what they take from a page, and how they are started."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response, TextResponse


def settings(out: Path, concurrency: int) -> dict[str, Any]:
    """Scrapy's defaults, except where they would slow it down or where they are not comparable."""
    return {
        "CONCURRENT_REQUESTS": concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        "ROBOTSTXT_OBEY": True,
        "RETRY_ENABLED": True,
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "LOG_LEVEL": "WARNING",
        "FEEDS": {str(out): {"format": "jsonlines", "encoding": "utf-8", "overwrite": True}},
    }


def page(response: Response) -> tuple[dict[str, Any], list[str]]:
    """A page's record and the addresses on it, the same as everybody else takes."""
    if not isinstance(response, TextResponse):
        raise TypeError(f"{response.url} is not text: the site is not what this spider was written for")
    hrefs = response.xpath("//a/@href").getall()
    record = {
        "url": response.url,
        "title": response.xpath("//title/text()").get(),
        "description": response.xpath("//meta[@name='description']/@content").get(),
        "language": response.xpath("/html/@lang").get(),
        "links": len(hrefs),
    }
    return record, hrefs


def main(spider: type[Spider]) -> None:
    """Crawl with this spider until it is done; exit 1 when Scrapy counted an error."""
    parser = argparse.ArgumentParser(description=spider.__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--out", type=Path, required=True, help="JSON lines")
    options = parser.parse_args()
    process = CrawlerProcess(settings(options.out, options.concurrency))
    crawler = process.create_crawler(spider)
    process.crawl(crawler, start_urls=[options.url])
    process.start()
    stats = crawler.stats
    if stats is None or stats.get_value("log_count/ERROR", 0):
        sys.exit(1)
