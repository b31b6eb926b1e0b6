"""The demo: a small site on this machine, a crawl of it, and whether that came out as it must."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tarantella.demo import EXPECTED, EXPECTED_WITH_BROWSER, DemoSite, Expected
from tarantella.domain.backoff import Backoff
from tarantella.domain.errors import TarantellaError
from tarantella.domain.run import RunStatus
from tarantella.domain.spec import Spec
from tarantella.services.app import App
from tarantella.settings import Settings
from tarantella.store.runs import Run

BACKOFF_SECONDS = 1.0
NETWORK = "127.0.0.0/8"
STARTS_WITHIN = 10.0

__all__ = ["BACKOFF_SECONDS", "differences", "expected", "serving", "spec_of"]


class DemoUnavailable(TarantellaError):
    """The site could not be started."""

    code = "demo"


def expected(app: App) -> Expected:
    """What a crawl of the site must come to here: with a browser, two pages more can be had."""
    return EXPECTED_WITH_BROWSER if "browser" in app.strategies() else EXPECTED


def spec_of(settings: Settings) -> Spec:
    """Everything on the demo site, with less patience than a real site deserves."""
    return Spec(
        auto=True,
        depth=None,
        concurrency=settings.concurrency,
        per_host=settings.per_host,
        attempts=3,
        backoff=Backoff(base=BACKOFF_SECONDS),
        allow_networks=(NETWORK,),
        connect_timeout=settings.connect_timeout_seconds,
        total_timeout=settings.http_timeout_seconds,
    )


@contextmanager
def serving() -> Iterator[str]:
    """Serve the site from a thread with a loop of its own, as if it were elsewhere; its address."""
    ready = threading.Event()
    over = threading.Event()
    found: list[str | BaseException] = []

    async def serve() -> None:
        try:
            async with DemoSite() as site:
                found.append(site.url)
                ready.set()
                await asyncio.to_thread(over.wait)
        except OSError as error:
            found.append(error)
            ready.set()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="demo-site", daemon=True)
    thread.start()
    try:
        ready.wait(STARTS_WITHIN)
        if not found or isinstance(found[0], BaseException):
            raise DemoUnavailable(f"The demo site can't be started: {found[0] if found else 'it takes too long'}.")
        yield found[0]
    finally:
        over.set()
        thread.join(STARTS_WITHIN)


def differences(run: Run, troubles: Sequence[Mapping[str, Any]], expected: Expected) -> list[str]:
    """Where the outcome is not what the site was made for; nothing when all is well."""
    counts = run.counts
    found = [
        f"{name}: expected {wanted}, got {got}"
        for name, wanted, got in (
            ("status", RunStatus.PARTIAL.value, run.status.value),
            ("pages", expected.total, counts.total),
            ("done", expected.done, counts.done),
            ("failed", expected.failed, counts.failed),
            ("skipped", expected.skipped, counts.skipped),
            ("records", expected.done, run.records),
        )
        if wanted != got
    ]
    reasons = Counter({trouble["reason"]: trouble["count"] for trouble in troubles})
    for reason in sorted({*expected.reasons, *reasons}, key=str):
        if expected.reasons.get(reason, 0) != reasons[reason]:
            found.append(f"{reason}: expected {expected.reasons.get(reason, 0)}, got {reasons[reason]}")
    return found
