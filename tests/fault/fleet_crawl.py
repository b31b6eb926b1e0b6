"""A crawl that a fleet does while its parts are killed, and what must be so when it is over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import psycopg

from tests.fault.invariants import broken
from tests.fault.processes import SiteProcess, until
from tests.fleet import Fleet
from tests.serving import OVER, ServerProcess
from tests.site.pages import tree_path, tree_paths

DEPTH, FAN, DELAY_MS = 3, 4, 100
PER_HOST = 2
HOSTS = tuple(f"127.0.0.{number}" for number in range(1, 7))
LONG = 90.0


@dataclass(slots=True)
class Crawl:
    """A tree on each of some hosts, a run each, with a limit for every host."""

    fleet: Fleet
    site: SiteProcess
    hosts: Sequence[str] = HOSTS
    port: int | None = None
    runs: dict[str, str] = field(default_factory=dict)  # id → host

    def url(self, path: str, host: str) -> str:
        return f"http://{host}:{self.port or self.site.port}{path}"

    def begin(self, server: ServerProcess) -> None:
        """Submit all of it, and wait until it is under way."""
        for host in self.hosts:
            answer = server.client.patch(f"/sites/{host}", json={"per_host": PER_HOST})
            assert answer.status_code == 200, answer.text
            run_id = server.submit(self.url(tree_path(DEPTH, FAN, delay_ms=DELAY_MS), host), max_depth=DEPTH + 1)
            self.runs[run_id] = host
        self.until_fetched(len(self.hosts) * 4)

    def until_fetched(self, pages: int) -> None:
        until(lambda: len(self.site.hits()) >= pages, LONG, f"not even {pages} pages are fetched")

    def until_over(self) -> None:
        """Every run is terminal. The database itself is asked: servers may be down."""
        until(lambda: self.is_over, LONG, f"not all runs are over: {self._statuses()}")

    def check(self) -> None:
        """The same pages as without any trouble, one record each, and no host was asked for more at a time."""
        self.until_over()
        for run_id, host in self.runs.items():
            records = self.fleet.rows("SELECT data::jsonb ->> 'url' AS url FROM records WHERE run_id = %s", run_id)
            expected = sorted(self.url(path, host) for path in tree_paths(DEPTH, FAN, DELAY_MS))
            assert sorted(row["url"] for row in records) == expected
        assert set(self._statuses().values()) == {"completed"}
        assert {host: seen for host, seen in self.site.log()["peak_by_host"].items() if seen > PER_HOST} == {}
        wrong = list(broken(self.fleet.data_dir))
        assert not wrong, "\n".join(wrong)

    @property
    def is_over(self) -> bool:
        found = self._statuses()
        return bool(found) and all(status in OVER for status in found.values())

    def _statuses(self) -> dict[str, str]:
        try:
            rows = self.fleet.rows("SELECT id, status FROM runs WHERE id = ANY(%s)", list(self.runs))
        except psycopg.OperationalError:
            return {}  # it is being restarted
        return {row["id"]: row["status"] for row in rows}


def while_it_lasts(crawl: Crawl, disturb: Callable[[], None], times: int) -> None:
    """Do this again and again, each time when some more pages were fetched, for as long as the crawl goes on."""
    for _ in range(times):
        if crawl.is_over:
            break
        before = len(crawl.site.hits())
        disturb()
        until(lambda b=before: len(crawl.site.hits()) > b + 5 or crawl.is_over, LONG, "the crawl stands still")  # type: ignore[misc]
