"""What a user asks of sites: how they are, what they may be asked, and to try one again."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from typing import Any

from tarantella.domain.breaker import BreakerState
from tarantella.domain.errors import InvalidInput
from tarantella.domain.job import Wish
from tarantella.domain.site import POLICY_FIELDS, faded
from tarantella.domain.struct import replace
from tarantella.domain.url import Unfetchable, shown, start_url
from tarantella.services.app import App
from tarantella.store import sites
from tarantella.store.sites import Site
from tarantella.store.stands import open_lanes
from tarantella.store.tx import Tx

__all__ = [
    "Health",
    "Site",
    "change_policy",
    "error_rate",
    "get",
    "health",
    "host_of",
    "learned_until",
    "listed",
    "reset_breaker",
]

DEGRADED_FROM, FAILING_FROM = 0.1, 0.5


class Health(StrEnum):
    UNKNOWN = "unknown"  # nothing was asked of it yet
    OK = "ok"
    DEGRADED = "degraded"
    FAILING = "failing"
    BLOCKED = "blocked"  # its breaker is open
    PAUSED = "paused"


def host_of(text: str) -> str:
    """A host as its lane is called, from what a person types: a name, an address, or a whole URL."""
    try:
        url = start_url(text if "://" in text else f"http://{text}/")
    except Unfetchable:
        raise InvalidInput(
            f"{shown(text)} is not a host.", field="host", remedy="Write it like example.com or 192.0.2.7."
        ) from None
    return url.lane


async def listed(
    app: App, *, after: str = "", limit: int = 50, breaker_open: bool = False, paused: bool = False
) -> list[Site]:
    look = partial(sites.listed, after=after, limit=limit, breaker_open=breaker_open, paused=paused)
    return await app.database.read(look)


async def get(app: App, host: str) -> Site:
    return await app.database.read(partial(sites.get, host=host_of(host)))


async def change_policy(app: App, host: str, changes: Mapping[str, Any]) -> Site:
    """Say what a host may be asked; what is not mentioned stays as it is. Owners of its lane heed it within a second."""
    for name in changes:
        if name not in POLICY_FIELDS:
            raise InvalidInput(
                f"A site's policy has no {name!r}.", field=name, remedy=f"It has {', '.join(POLICY_FIELDS)}."
            )
    if changes.get("strategy") == Wish.AUTO:
        changes = {**changes, "strategy": None}
    name = host_of(host)

    def change(tx: Tx) -> Site:
        policy = replace(sites.get_policy(tx, name), **changes)
        sites.set_policy(tx, name, policy, app.now())
        # So that whoever comes to the host first finds its policy with its lane.
        open_lanes(tx, [name])
        return sites.get(tx, name)

    return await app.database.write(change, durable=True, name="policy")


async def reset_breaker(app: App, host: str) -> Site:
    """Let a host be asked again although it failed; if it fails on, its breaker opens again."""
    name = host_of(host)

    def reset(tx: Tx) -> Site:
        sites.get(tx, name)
        sites.reset_breaker(tx, name)
        return sites.get(tx, name)

    return await app.database.write(reset, durable=True, name="reset")


def learned_until(app: App, site: Site) -> float | None:
    """Until when what a host has taught is believed, unless it is seen again."""
    return site.learned.at + app.settings.strategy_memory_seconds if site.learned is not None else None


def error_rate(site: Site, now: float) -> float | None:
    """The share of recent requests that failed; None where there were none."""
    if site.seen_at is None:
        return None
    # Both fade alike, so that their share stays; only when next to nothing is left of them, it means nothing any more.
    if faded(site.recent_requests, now - site.seen_at) < 0.5:
        return None
    return site.recent_failures / site.recent_requests


def health(site: Site, now: float) -> Health:
    """One word for how a host is."""
    if site.policy.paused:
        return Health.PAUSED
    if site.breaker.state is not BreakerState.CLOSED:
        return Health.BLOCKED
    rate = error_rate(site, now)
    if rate is None:
        return Health.UNKNOWN if not site.requests else Health.OK
    return Health.FAILING if rate >= FAILING_FROM else Health.DEGRADED if rate >= DEGRADED_FROM else Health.OK
