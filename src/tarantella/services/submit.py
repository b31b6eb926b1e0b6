"""Takes a run in: its rules are checked, its start pages stored, and only then does it exist."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice

from tarantella.domain.errors import InvalidInput, NotFound, StoreError
from tarantella.domain.outcome import Link
from tarantella.domain.sitemap import AUTO, sitemap_link
from tarantella.domain.spec import Secrets, Spec
from tarantella.domain.struct import replace
from tarantella.domain.url import fingerprint, start_url, stored
from tarantella.extractors.page import Wants
from tarantella.services.app import App
from tarantella.store import runs
from tarantella.store.ids import new_id
from tarantella.store.tx import Tx

__all__ = ["new_id", "submit"]

PAGES_AT_ONCE = 5_000
MOST_ROOTS = 1_000


async def submit(
    app: App, spec: Spec, urls: Iterable[str], *, run_id: str | None = None, keeper: str | None = None
) -> str:
    """Store a new run durably and give its id."""
    run_id = run_id or new_id()
    spec.check_patterns()
    spec.check_secrets()
    Wants.of(spec)  # a selector that can't be understood is refused now, not on every page
    links = _links(urls)
    # Sitemaps are read after the start pages; where there are none, the run starts with them.
    first = list(islice(links, PAGES_AT_ONCE)) or _sitemaps(spec)
    if not first:
        raise InvalidInput(
            "There is no address to start from.", remedy="Give one like https://example.com/.", field="urls"
        )
    roots = [link.url for link in first[:MOST_ROOTS]]
    if spec.secrets != Secrets():
        servers = tuple(dict.fromkeys(stored(root).server for root in roots))
        spec = replace(spec, secrets=replace(spec.secrets, servers=servers))
    now = app.now()
    all_here = len(first) < PAGES_AT_ONCE
    seal = partial(runs.seal, run_id=run_id, max_running=app.settings.max_concurrent_tasks)

    def begin(tx: Tx) -> None:
        runs.create(tx, run_id, spec, roots, keeper=keeper, now=now)
        runs.add_start_pages(tx, run_id, first, spec.strategy, now)
        if all_here:
            seal(tx, now=now)

    if all_here:
        return await _acknowledged(app, run_id, begin)
    await app.database.write(begin, name="submit")
    while more := list(islice(links, PAGES_AT_ONCE)):
        add = partial(runs.add_start_pages, run_id=run_id, links=more, strategy=spec.strategy, now=app.now())
        await app.database.write(add, name="submit")
    return await _acknowledged(app, run_id, partial(seal, now=app.now()))


async def _acknowledged(app: App, run_id: str, work: Callable[[Tx], None]) -> str:
    """Make the last transaction of a submission; acknowledged work is on the disk."""
    try:
        await app.database.write(work, durable=True, name="submit")
    except StoreError:
        # It may have been committed all the same. Then the run exists, and who asked again would get a second one.
        try:
            run = await app.database.read(partial(runs.get, run_id=run_id))
        except NotFound:
            run = None
        if run is None or run.reason == runs.SUBMITTING:
            raise
    return run_id


def _sitemaps(spec: Spec) -> list[Link]:
    return [sitemap_link(start_url(address)) for address in spec.sitemaps if address != AUTO]


def _links(urls: Iterable[str]) -> Iterator[Link]:
    for text in urls:
        url = start_url(text)
        yield Link(url.href, fingerprint(url.href), url.lane, 1)
