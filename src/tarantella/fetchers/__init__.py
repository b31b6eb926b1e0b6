"""One file per strategy, their contract, and the egress guard that everything goes through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tarantella.fetchers.user_agent import default_user_agent

__all__ = ["FETCHERS", "default_user_agent"]

if TYPE_CHECKING:
    from tarantella.fetchers.contract import Fetcher
    from tarantella.fetchers.guard import Guard


def _http(guard: Guard) -> Fetcher:
    # A strategy's library is loaded by the first run that needs it.
    from tarantella.fetchers.cached import CachedFetcher
    from tarantella.fetchers.http import HttpFetcher

    return CachedFetcher(HttpFetcher(guard), guard)


def _api_replay(guard: Guard) -> Fetcher:
    from tarantella.fetchers.api_replay import ApiReplayFetcher

    return ApiReplayFetcher(guard)


FETCHERS: Mapping[str, Callable[[Guard], Fetcher]] = {"http": _http, "api_replay": _api_replay}
