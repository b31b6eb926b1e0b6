"""Where a redirect leads, and when to stop following."""

from __future__ import annotations

from time import time

from wreq import Response as Answer

from tarantella.domain.failure import Failure
from tarantella.domain.url import Unfetchable, Url, resolve, shown
from tarantella.fetchers.contract import FetchError, Request
from tarantella.fetchers.cookies import Collected, matching

STATUSES = frozenset({301, 302, 303, 307, 308})

# Failures of a page that another try would only repeat.
FINAL_DETAILS = frozenset({"bad_redirect", "redirect_loop", "too_many_redirects"})


class Trail:
    """The way of one page through the redirects of one host."""

    def __init__(self, request: Request) -> None:
        self.hops = request.hops
        self.cookies = Collected()
        self._limit = request.options.max_redirects
        self._visited: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
        self._note(request.url)

    def step(self, url: Url, location: bytes, answer: Answer) -> Url:
        """The next address after this answer."""
        target = _target(url, location)
        self.hops += 1
        if self.hops > self._limit:
            raise FetchError(Failure.BAD_RESPONSE, "too_many_redirects", f"More than {self._limit} redirects in a row.")
        self.cookies.take(url, answer.cookies, time())
        if not self._note(target):
            raise FetchError(
                Failure.BAD_RESPONSE, "redirect_loop", f"{shown(target.href)} redirects to itself in the end."
            )
        return target

    def _note(self, url: Url) -> bool:
        """Remember a visit; False if it was made before. With other cookies it is another visit."""
        visit = (url.href, tuple(matching(url, self.cookies).items()))
        known = visit in self._visited
        self._visited.add(visit)
        return not known


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
