"""What can go wrong with a page, and the one table that says what follows."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from tarantella.domain.struct import Frozen


class Failure(StrEnum):
    """Why an attempt did not give a page."""

    BLOCKED = "blocked"
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    NETWORK = "network"
    BAD_RESPONSE = "bad_response"
    NOT_FOUND = "not_found"
    NEEDS_RENDER = "needs_render"
    RECORDING = "recording"
    TOO_LARGE = "too_large"
    DENIED = "denied"
    PROXY = "proxy"
    BROWSER = "browser"
    UNKNOWN = "unknown"


class Blame(StrEnum):
    """Whose failure it was, and so what its host is told."""

    HOST = "host"  # it is ill, or had too much of us: fewer requests at a time
    PAGE = "page"  # the host was there, and gave what it had
    OURS = "ours"  # the host has nothing to do with it


class Policy(Frozen):
    """How one kind of failure is answered."""

    retry: bool
    escalate: bool = False
    backoff: bool = True
    honour_retry_after: bool = False
    charged: bool = True
    trips_breaker: bool = False
    blame: Blame = Blame.HOST


POLICY: Mapping[Failure, Policy] = {
    Failure.BLOCKED: Policy(retry=True, escalate=True),
    Failure.RATE_LIMITED: Policy(retry=True, escalate=True, honour_retry_after=True),
    Failure.TIMEOUT: Policy(retry=True, trips_breaker=True),
    Failure.NETWORK: Policy(retry=True, trips_breaker=True),
    Failure.BAD_RESPONSE: Policy(retry=True, trips_breaker=True),
    Failure.NOT_FOUND: Policy(retry=False, blame=Blame.PAGE),
    Failure.NEEDS_RENDER: Policy(retry=True, escalate=True, backoff=False, charged=False, blame=Blame.PAGE),
    Failure.RECORDING: Policy(retry=True, escalate=True, backoff=False, charged=False, blame=Blame.PAGE),
    Failure.TOO_LARGE: Policy(retry=False, blame=Blame.PAGE),
    Failure.DENIED: Policy(retry=False, blame=Blame.OURS),
    Failure.PROXY: Policy(retry=True, backoff=False, blame=Blame.OURS),
    Failure.BROWSER: Policy(retry=True, blame=Blame.OURS),
    Failure.UNKNOWN: Policy(retry=True, blame=Blame.OURS),
}

# The detail of an attempt that killed the process it was made in.
CRASH = "crash"

# The detail of an attempt with a strategy that this machine lacks: the next one would lack it too.
MISSING = "missing"

# Of the answers that are `bad_response`, only these can be better the next time.
RETRYABLE_STATUS = frozenset({408, 425, *range(500, 600)})

IN_WORDS: Mapping[Failure, str] = {
    Failure.BLOCKED: "the site refused us",
    Failure.RATE_LIMITED: "the site asked us to slow down",
    Failure.TIMEOUT: "the site took too long",
    Failure.NETWORK: "the connection failed",
    Failure.BAD_RESPONSE: "the site answered with an error",
    Failure.NOT_FOUND: "the page does not exist",
    Failure.NEEDS_RENDER: "the page is empty until its scripts run",
    Failure.RECORDING: "what was recorded does not work any more",
    Failure.TOO_LARGE: "the page is larger than the limit",
    Failure.DENIED: "the address is in a network that is not allowed",
    Failure.PROXY: "the proxy failed",
    Failure.BROWSER: "the browser failed",
    Failure.UNKNOWN: "something unexpected went wrong",
}


def classify_status(status: int, *, retry_after: bool) -> Failure | None:
    """The failure that a response's status means, or None for a page."""
    if 200 <= status < 300:
        return None
    if status in (401, 403):
        return Failure.BLOCKED
    if status == 429 or (status == 503 and retry_after):
        return Failure.RATE_LIMITED
    if status in (404, 410):
        return Failure.NOT_FOUND
    return Failure.BAD_RESPONSE


def trips_breaker(failure: Failure, status: int | None) -> bool:
    """Whether this failure says that the host is ill, rather than the page missing or us unwelcome."""
    if failure is Failure.BAD_RESPONSE:
        return status is not None and status >= 500
    return POLICY[failure].trips_breaker
