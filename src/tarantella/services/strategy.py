"""Which strategy a run of a job gets: as asked for, as its site has taught, or as a look at the site suggests."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from tarantella.domain.errors import NotFound, StoreError
from tarantella.domain.event import STRATEGY_MISSING, Event, Level
from tarantella.domain.job import Wish, wished
from tarantella.domain.learning import Sight, Sights
from tarantella.domain.recording import purpose_of
from tarantella.domain.site import Tally
from tarantella.domain.spec import Spec
from tarantella.domain.strategy import API_REPLAY, BROWSER, HTTP
from tarantella.domain.struct import replace
from tarantella.domain.url import Url, redact
from tarantella.fetchers import FETCHERS
from tarantella.fetchers.browser.finding import find_browser
from tarantella.services.app import App
from tarantella.services.probe import Probed, Prober
from tarantella.store import first_page, recordings, sites
from tarantella.store.jobs import Job
from tarantella.store.sites import Site
from tarantella.store.tx import Tx


async def resolved(app: App, prober: Prober, job: Job, spec: Spec, url: Url) -> tuple[Spec, Probed, list[Event]]:
    """The spec with its strategy, how that came about, and what there is to say of it."""
    asked = wished(spec, job.strategy, requires_auth=job.requires_auth)
    if not asked.auto and job.strategy is Wish.AUTO and not job.requires_auth:
        # What it asks of a browser may be no more than how to get at the data.
        if await app.database.read(partial(_is_replayable, app=app, job=job, spec=spec, url=url)):
            return replace(asked, strategy=API_REPLAY.name), _REPLAYED, []
    if not asked.auto:
        found = Probed(asked.strategy, _why(job))
        # Without a browser such a run fails and says what to do: nobody asked for anything less.
        there = asked.strategy in FETCHERS
        return asked if there else replace(asked, strategy=HTTP.name), found, [] if there else [_missing(app, found)]
    taught = await app.database.read(partial(_taught, app=app, job=job, spec=spec, url=url))
    found = taught if taught is not None else await _look(app, prober, spec, url)
    if found.strategy in app.strategies():
        return replace(asked, strategy=found.strategy), found, []
    return replace(asked, strategy=HTTP.name), found, [_missing(app, found)]


def _why(job: Job) -> str:
    if job.requires_auth:
        return "the target needs a login"
    return "what it asks for is for a browser" if job.strategy is Wish.AUTO else "as asked for"


_REPLAYED = Probed(API_REPLAY.name, "a recording of an earlier run works")


def _site(tx: Tx, url: Url) -> Site | None:
    with suppress(NotFound):
        return sites.get(tx, url.lane)
    return None


def _is_replayable(tx: Tx, app: App, job: Job, spec: Spec, url: Url) -> bool:
    """Whether a recording works, and nobody has pinned the site or wants to see the page itself."""
    site = _site(tx, url)
    if site is not None and site.policy.strategy is not None:
        return False
    if spec.browser.screenshot or spec.browser.keep_html:
        return False
    return recordings.current(tx, job.id, purpose_of(url.href, spec.fields, spec.item), app.now()) is not None


def _taught(tx: Tx, app: App, job: Job, spec: Spec, url: Url) -> Probed | None:
    """What people have said of the site, what can be replayed, what the site has shown, or what the job's last run found out,
    as long as that is fresh.

    That HTTP works for a site says little of this page of it: then a look is worth its while.
    """
    since = app.now() - app.settings.strategy_memory_seconds
    site = _site(tx, url)
    if site is not None and site.policy.strategy is not None:
        return Probed(site.policy.strategy, "pinned for its site")
    if _is_replayable(tx, app, job, spec, url):
        return _REPLAYED
    if site is None:
        return None
    learned = site.learned
    if learned is not None and learned.strategy != HTTP.name and learned.at > since:
        return Probed(learned.strategy, f"learned from its site: {learned.why}")
    last = first_page.last_strategy(tx, job.id, url.href, since)
    # A record over HTTP may be that of an empty page, kept by a run that asked for HTTP; then its site has not given it as a page.
    works = last == HTTP.name and learned is not None and learned.strategy == HTTP.name
    # What renders stays no longer than the memory of how HTTP was refused.
    if last is not None and (works or (last == BROWSER.name and learned is None and _refused_since(site, since))):
        return Probed(last, "as in the last run of its job")
    return None


def _refused_since(site: Site, since: float) -> bool:
    plain = site.evidence.get(HTTP.name)
    return plain is not None and plain.times_refused > 0 and plain.at > since


async def _look(app: App, prober: Prober, spec: Spec, url: Url) -> Probed:
    """Look at the site. How it refuses us is remembered as what any page of it would have taught."""
    found = await prober.resolve(spec, url.href)
    if found.refusal is not None and not found.is_known:
        seen: dict[Sight, Sights] = {(HTTP.name, found.refusal.value): Sights(1, url=redact(url.href))}
        learn = partial(
            sites.tally,
            tallies={url.lane: Tally(seen=seen)},
            now=app.now(),
            remembers=app.settings.strategy_memory_seconds,
        )
        with suppress(StoreError):  # then the next look teaches it
            await app.database.write(learn, name="learn")
    return found


def _missing(app: App, found: Probed) -> Event:
    remedy = find_browser(app.settings.browser).missing or f"There is nothing for {found.strategy} here."
    meta = {"wanted": found.strategy, "used": HTTP.name, "why": found.why, "remedy": remedy}
    return Event(STRATEGY_MISSING, Level.WARN, meta)
