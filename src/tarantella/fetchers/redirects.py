"""Where a redirect leads, and when to stop following."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from time import time

from wreq import HeaderMap

from tarantella.domain.cookie import Cookie
from tarantella.domain.failure import Failure
from tarantella.domain.url import Unfetchable, Url, resolve, shown
from tarantella.fetchers.contract import FetchError, Request
from tarantella.fetchers.cookies import cookie_pairs, set_by

STATUSES = frozenset({301, 302, 303, 307, 308})

# Failures of a page that another try would only repeat.
FINAL_DETAILS = frozenset({"bad_redirect", "redirect_loop", "too_many_redirects"})


class Trail:
    """The way of one page through the redirects of one host, and the cookies that were set on it."""

    def __init__(self, request: Request) -> None:
        self.hops = request.hops
        self.set: list[Cookie] = []
        self._known = {cookie.key: cookie for cookie in request.cookies}
        self._limit = request.options.max_redirects
        self._visited: set[tuple[str, tuple[str, ...]]] = set()
        self._note(request.url)

    @property
    def cookies(self) -> Collection[Cookie]:
        """Those that the next request has to choose from."""
        return self._known.values()

    def step(self, url: Url, location: bytes, headers: HeaderMap) -> Url:
        """The next address after this answer."""
        target = _target(url, location)
        self.hops += 1
        if self.hops > self._limit:
            raise too_many_redirects(self._limit)
        self._take(set_by(headers, url, time()))
        if not self._note(target):
            raise FetchError(
                Failure.BAD_RESPONSE, "redirect_loop", f"{shown(target.href)} redirects to itself in the end."
            )
        return target

    def _take(self, cookies: Iterable[Cookie]) -> None:
        for cookie in cookies:
            self.set.append(cookie)
            self._known.pop(cookie.key, None)
            if not cookie.is_over(cookie.set_at):
                self._known[cookie.key] = cookie

    def _note(self, url: Url) -> bool:
        """Remember a visit; False if it was made before. With other cookies it is another visit."""
        visit = (url.href, tuple(cookie_pairs(url, (), self.cookies, time())))
        known = visit in self._visited
        self._visited.add(visit)
        return not known


def too_many_redirects(limit: int) -> FetchError:
    return FetchError(Failure.BAD_RESPONSE, "too_many_redirects", f"More than {limit} redirects in a row.")


def _target(url: Url, location: bytes) -> Url:
    try:
        text = location.decode("utf-8")
    except UnicodeDecodeError:
        text = location.decode("latin-1")
    try:
        return resolve(text, base=url.href)
    except Unfetchable as error:
        if error.reason == "scheme":
            raise FetchError(
                Failure.DENIED, "scheme", f"A redirect leads to {shown(text)}, which is not http or https."
            ) from None
        raise FetchError(
            Failure.BAD_RESPONSE, "bad_redirect", f"A redirect leads to {shown(text)}, which is no address."
        ) from None
