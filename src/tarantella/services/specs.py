"""The spec of a run: what was said, and the settings for what was not."""

from __future__ import annotations

from typing import Any

from tarantella.domain.spec import Spec
from tarantella.domain.url import SCHEMES, Unfetchable, Url, shown, start_url
from tarantella.settings import Settings

DEADLINE_SECONDS = 30 * 60.0


def usual(settings: Settings, **said: Any) -> dict[str, Any]:
    """What the settings say of every run, but for what was said; what is None was not."""
    return {
        "max_pages": settings.max_pages,
        "concurrency": settings.concurrency,
        "per_host": settings.per_host,
        "attempts": settings.attempts,
        "user_agent": settings.user_agent,
        "allow_networks": tuple(settings.allow_networks),
        "connect_timeout": settings.connect_timeout_seconds,
        "total_timeout": settings.http_timeout_seconds,
        "cache_bytes": settings.cache_bytes,
        "durable": settings.durability == "full",
        **{name: value for name, value in said.items() if value is not None},
    }


def spec_of(settings: Settings, **said: Any) -> Spec:
    """The spec of a run that was asked for over HTTP. Which private networks it may reach is not for a request to say."""
    return Spec(**{"deadline_seconds": DEADLINE_SECONDS, **usual(settings, **said)})


def start_address(address: str, field: str) -> Url:
    """The address to start from. What a person may leave out, a program has to say: http or https."""
    try:
        if address.strip().lower().partition("://")[0] not in SCHEMES:
            raise Unfetchable(
                "scheme",
                f"{shown(address)} is not an http or https address.",
                remedy="Write it whole, like https://example.com/.",
            )
        return start_url(address)
    except Unfetchable as error:
        error.field = field
        raise
