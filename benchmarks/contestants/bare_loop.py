"""The ceiling: the same libraries and the same work per page as Tarantella, with no engine around them.

No queue that survives a crash, no robots, no retries, no limits per host, no scope: whatever an
orchestrator adds, it adds to this.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import orjson
import turbohtml
import uvloop
import wreq
from wreq import redirect
from wreq.runtime import Runtime

ROWS_PER_COMMIT = 500
TIMEOUT = dt.timedelta(seconds=20)
HREFS = turbohtml.XPath("//a/@href", smart_strings=False)
COLUMNS = ("url", "title", "description", "language", "links", "text")

Row = tuple[str, str | None, str | None, str | None, int, str | None]


class Table:
    """One SQLite row per page, committed in batches."""

    def __init__(self, file: Path) -> None:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{file}{suffix}").unlink(missing_ok=True)
        self._connection = sqlite3.connect(file, isolation_level=None)
        # A page's text fills several pages of 4 KB; larger ones cost a tenth less CPU.
        self._connection.execute("PRAGMA page_size=16384")
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(
            "CREATE TABLE pages (url TEXT PRIMARY KEY, title TEXT, description TEXT, language TEXT,"
            " links INTEGER NOT NULL, text TEXT)"
        )
        self._waiting: list[Row] = []

    def add(self, row: Row) -> None:
        self._waiting.append(row)
        if len(self._waiting) >= ROWS_PER_COMMIT:
            self.flush()

    def flush(self) -> None:
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?)", self._waiting)
        self._connection.execute("COMMIT")
        self._waiting.clear()

    def export(self, file: Path) -> None:
        """Stream the rows into JSON lines."""
        with file.open("wb", buffering=1 << 20) as lines:
            for row in self._connection.execute("SELECT * FROM pages"):
                record = dict(zip(COLUMNS, row, strict=True))
                lines.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))

    def close(self) -> None:
        self._connection.close()


class Crawl:
    """A crawl of a few hosts by a few coroutines that share a list; links to other hosts are left alone."""

    def __init__(self, start_urls: Sequence[str], concurrency: int, with_text: bool, table: Table) -> None:
        self._todo = list(start_urls)
        self._seen = set(start_urls)
        # Links as they are written, by host: most were met before, and then there is nothing to put together.
        self._met = {base: {url.removeprefix(base)} for url in start_urls for base in [_base_of(url)]}
        self._concurrency = concurrency
        self._with_text = with_text
        self._table = table
        self._active = 0

    async def run(self) -> None:
        client = wreq.Client(
            runtime=Runtime(workers=1), redirect=redirect.Policy.none(), timeout=TIMEOUT, no_proxy=True
        )
        async with asyncio.TaskGroup() as group:
            self._start_workers(group, client)
        self._table.flush()

    def _start_workers(self, group: asyncio.TaskGroup, client: wreq.Client) -> None:
        for _ in range(min(self._concurrency - self._active, len(self._todo))):
            self._active += 1
            group.create_task(self._work(group, client))

    async def _work(self, group: asyncio.TaskGroup, client: wreq.Client) -> None:
        while self._todo:
            await self._visit(self._todo.pop(), client)
            if self._active < self._concurrency:
                self._start_workers(group, client)
        self._active -= 1

    async def _visit(self, url: str, client: wreq.Client) -> None:
        response = await client.get(url)
        body = bytes(await response.bytes())
        if (status := response.status.as_int()) != 200:
            raise RuntimeError(f"{url} answered {status}: the site is not what this loop was written for")
        document = turbohtml.parse(body, positions=False)
        # The expression selects attributes, and those are strings.
        hrefs = cast("list[str]", HREFS(document))
        self._follow(hrefs, _base_of(url))
        title = document.find("title")
        description = document.select_one("meta[name=description]")
        self._table.add(
            (
                url,
                title.text if title else None,
                description.attr("content") if description else None,
                document.root.attr("lang") if document.root else None,
                len(hrefs),
                document.main_text() if self._with_text else None,
            )
        )

    def _follow(self, hrefs: Sequence[str], base: str) -> None:
        met = self._met[base]
        new = set(hrefs) - met
        met |= new
        if len(self._met) == 1:
            # The site writes links within a host as paths, and whatever else is new leads elsewhere.
            self._todo.extend([base + href for href in new if href.startswith("/")])
            return
        for href in new:
            url = base + href if href.startswith("/") else href
            if url not in self._seen and _base_of(url) in self._met:
                self._seen.add(url)
                self._todo.append(url)


def _base_of(url: str) -> str:
    return url[: url.index("/", len("http://"))]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contestants.bare_loop", description=__doc__)
    parser.add_argument("--url", action="append", required=True, help="where to start; may be given again")
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--text", choices=("none", "fast"), default="none")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines; its SQLite file stands beside it")
    options = parser.parse_args()
    table = Table(options.out.with_suffix(".sqlite"))
    try:
        uvloop.run(Crawl(options.url, options.concurrency, options.text == "fast", table).run())
        table.export(options.out)
    finally:
        table.close()


if __name__ == "__main__":
    main()
