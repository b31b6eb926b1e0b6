"""The spec of a run that was asked for over HTTP: what was said, and the settings for what was not."""

from __future__ import annotations

from typing import Any

from tarantella.domain.spec import Spec
from tarantella.domain.url import SCHEMES, Unfetchable, Url, shown, start_url
from tarantella.settings import Settings

DEADLINE_SECONDS = 30 * 60.0


def spec_of(settings: Settings, **said: Any) -> Spec:
    """The spec with these values; what is None was not said."""
    usual: dict[str, Any] = {
        "max_pages": settings.max_pages,
        "concurrency": settings.concurrency,
        "per_host": settings.per_host,
        "deadline_seconds": DEADLINE_SECONDS,
        "attempts": settings.attempts,
        "user_agent": settings.user_agent,
        # Which private networks may be reached is for whoever runs the server to say, not for a request.
        "allow_networks": settings.allow_networks,
        "connect_timeout": settings.connect_timeout_seconds,
        "total_timeout": settings.http_timeout_seconds,
        "durable": settings.durability == "full",
    }
    return Spec(**{**usual, **{name: value for name, value in said.items() if value is not None}})


def target_of(address: str, field: str) -> Url:
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
