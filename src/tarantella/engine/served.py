"""A run as a worker serves it: its rules compiled once, and its share of slots."""

from __future__ import annotations

import time
from collections.abc import Callable

from tarantella.domain.run import RunStatus, Wanted
from tarantella.domain.scope import Scope
from tarantella.domain.spec import Spec
from tarantella.domain.trap_counts import Traps
from tarantella.domain.url import Url, resolve
from tarantella.extractors.links import LinkFilter
from tarantella.extractors.page import Wants
from tarantella.fetchers import default_user_agent
from tarantella.fetchers.contract import Caching, Options
from tarantella.fetchers.jar import Jar
from tarantella.store.runs import Run

WEIGHTS = (8.0, 4.0, 2.0, 1.0)  # by priority: how many turns a run gets where others stand too


class ServedRun:
    """One run's rules and what of it is in flight here."""

    def __init__(self, run: Run, wall: Callable[[], float] = time.time) -> None:
        self.run = run
        self.id = run.id
        self.spec = run.spec
        self.user_agent = run.spec.user_agent or default_user_agent()
        self.wants = Wants.of(run.spec)
        self.weight = WEIGHTS[run.spec.priority]
        self.slots = 0
        self.busy = 0
        self.line: dict[str, None] = {}  # lanes that wait for one of its slots, in turn
        self.full = run.is_full
        self.is_active = _is_active(run)
        self._wall = wall
        self._roots = run.roots
        traps = Traps(run.spec.traps, time.gmtime(wall()).tm_year, run.traps)
        self.links = LinkFilter(self._scope(), run.spec.depth, traps=traps)
        self.sitemaps = run.sitemaps
        self.records = _records(run)
        self.wants_recording = self.records and run.requested_strategy == "api_replay"
        self.options = options_of(run.spec, owner=run.job_id or run.id, watch=self.records)
        self.jar = Jar()
        self.minds_robots = run.spec.obey_robots  # or one of its sites does, by what people said of that
        self.climbed: dict[str, str] = {}  # by lane: the strategy that its pages start with instead of HTTP
        self.told_missing = False  # that a strategy is not there, which is said once
        self.follows: Callable[[Url], bool] | None = None  # where redirects lead, once it is known whom to ask

    @property
    def may_start(self) -> bool:
        """Whether a page of it may be started now."""
        if self.busy >= self.slots or not self.is_active:
            return False
        deadline = self.run.deadline_at
        return deadline is None or self._wall() < deadline

    def update(self, run: Run) -> None:
        """Take over what the database now says of the run."""
        self.run = run
        self.full = run.is_full
        self.is_active = _is_active(run)
        self.sitemaps = max(self.sitemaps, run.sitemaps)
        self._rebase(run.roots)

    def rebase_to(self, href: str) -> None:
        """A start address led here: draw the scope around this one too, before the database says so."""
        self._rebase((href,))

    def _rebase(self, roots: tuple[str, ...]) -> None:
        # Roots are only ever added, and the database may not have heard of ours yet.
        new = tuple(root for root in roots if root not in self._roots)
        if new:
            self._roots += new
            self.links.rebase(self._scope())

    def contains(self, href: str) -> bool:
        """Whether an address that a redirect led to belongs to the run."""
        return self._scope().contains(resolve(href))

    def _scope(self) -> Scope:
        roots = [resolve(root) for root in self._roots]
        return Scope.of(self.spec.scope, roots, self.spec.include, self.spec.exclude)


def options_of(spec: Spec, *, owner: str = "", watch: bool = False) -> Options:
    """How a run with this spec wants its pages fetched."""
    return Options(
        user_agent=spec.user_agent or default_user_agent(),
        headers=spec.secrets.headers,
        trusted_servers=frozenset(spec.secrets.servers),
        cookies=spec.secrets.cookies,
        proxy=spec.secrets.proxy,
        near_proxy=spec.secrets.near_proxy,
        ca_file=spec.ca_file,
        allow_networks=spec.allow_networks,
        connect_timeout=spec.connect_timeout,
        total_timeout=spec.total_timeout,
        max_body=spec.max_body,
        max_decoded=spec.max_decoded,
        cache=Caching(spec.cache_dir, spec.cache_ttl, spec.cache_bytes) if spec.cache_dir is not None else None,
        owner=owner,
        browsing=spec.browser,
        watch_exchanges=watch,
        session=spec.session,
        secrets=spec.secrets.values,
    )


def _records(run: Run) -> bool:
    """Whether what its start page asks for is worth recording: it is a job's, and the page's records are all that it collects."""
    spec, job = run.spec, run.snapshot or {}
    alone = (spec.depth == 1 or spec.pagination is not None) and not spec.sitemaps
    return run.job_id is not None and bool(spec.fields) and alone and not job.get("requires_auth")


def _is_active(run: Run) -> bool:
    """Whether it is admitted, and wanted to run."""
    return run.wanted is Wanted.RUN and run.status is RunStatus.RUNNING
