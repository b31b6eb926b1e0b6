"""One file per strategy, their contract, and the egress guard that everything goes through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tarantella.domain.struct import Frozen
from tarantella.fetchers.user_agent import default_user_agent

__all__ = ["FETCHERS", "Means", "default_user_agent"]

if TYPE_CHECKING:
    from tarantella.fetchers.browser.means import BrowserMeans
    from tarantella.fetchers.contract import Fetcher
    from tarantella.fetchers.guard import Guard


class Means(Frozen):
    """What the strategies of this machine have to work with."""

    browser: BrowserMeans | None = None
    no_browser: str = "There is no browser."  # why not, and what to do about it


def _http(guard: Guard, _means: Means) -> Fetcher:
    # A strategy's library is loaded by the first run that needs it.
    from tarantella.fetchers.cached import CachedFetcher
    from tarantella.fetchers.http import HttpFetcher

    return CachedFetcher(HttpFetcher(guard), guard)


def _browser(guard: Guard, means: Means) -> Fetcher:
    from tarantella.fetchers.lazy import LazyFetcher
    from tarantella.fetchers.missing import MissingFetcher

    browser = means.browser
    if browser is None:
        return MissingFetcher(means.no_browser)

    def make() -> Fetcher:
        from tarantella.fetchers.browser.fetcher import BrowserFetcher

        return BrowserFetcher(guard, browser)

    return LazyFetcher(make)


def _api_replay(guard: Guard, _means: Means) -> Fetcher:
    from tarantella.fetchers.api_replay import ApiReplayFetcher

    return ApiReplayFetcher(guard)


FETCHERS: Mapping[str, Callable[[Guard, Means], Fetcher]] = {
    "http": _http,
    "api_replay": _api_replay,
    "browser": _browser,
}
