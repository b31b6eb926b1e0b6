"""The cookies of one run, as one process knows them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from tarantella.domain.cookie import Cookie, domains_of
from tarantella.domain.struct import replace

MAX_PER_DOMAIN = 50
MAX_PER_RUN = 3_000
# Hosts for which the cookies are kept ready; more than any process works on at once.
MAX_READY = 1_024


class Jar:
    """Keeps what sites set, within bounds: of a domain the newest, of all domains those that were used last."""

    def __init__(self, limit: int = MAX_PER_RUN) -> None:
        self._limit = limit
        self._size = 0
        self._domains: OrderedDict[str, dict[tuple[str, str], Cookie]] = OrderedDict()
        # Most pages change nothing, and then this is all that is looked at.
        self._ready: dict[str, tuple[Cookie, ...]] = {}

    def __len__(self) -> int:
        return self._size

    def of_host(self, host: str) -> tuple[Cookie, ...]:
        """All cookies that this host may get to see; path, scheme and time are looked at when they are sent."""
        found = self._ready.get(host)
        if found is None:
            found = self._look_up(host)
            if len(self._ready) >= MAX_READY:
                self._ready.clear()
            self._ready[host] = found
        return found

    def take(self, cookies: Iterable[Cookie], now: float) -> tuple[Cookie, ...]:
        """Keep what a site set; all that is different now, for others to know. What is over was deleted."""
        changed: list[Cookie] = []
        for cookie in cookies:
            known = self._get(cookie)
            if cookie.is_over(now):
                if known is not None:
                    self._remove(known)
                    changed.append(_gone(cookie, now))
            elif known is None or replace(known, set_at=cookie.set_at) != cookie:
                self._put(cookie)
                changed.append(cookie)
                changed += self._crowded_out(cookie.domain, now)
        self._shrink()
        return tuple(changed)

    def load(self, cookies: Iterable[Cookie], now: float) -> None:
        """Take over what others stored, except where we know better."""
        for cookie in cookies:
            known = self._get(cookie)
            if known is not None and known.set_at >= cookie.set_at:
                continue
            if not cookie.is_over(now):
                self._put(cookie)
            elif known is not None:
                self._remove(known)
        self._shrink()

    def _look_up(self, host: str) -> tuple[Cookie, ...]:
        found: list[Cookie] = []
        for domain in domains_of(host):
            if (kept := self._domains.get(domain)) is not None:
                self._domains.move_to_end(domain)
                found += (cookie for cookie in kept.values() if cookie.belongs_to(host))
        return tuple(found)

    def _get(self, cookie: Cookie) -> Cookie | None:
        kept = self._domains.get(cookie.domain)
        return kept.get((cookie.path, cookie.name)) if kept is not None else None

    def _put(self, cookie: Cookie) -> None:
        self._remove(cookie)
        self._domains.setdefault(cookie.domain, {})[cookie.path, cookie.name] = cookie
        self._domains.move_to_end(cookie.domain)
        self._size += 1
        self._ready.clear()

    def _remove(self, cookie: Cookie) -> None:
        kept = self._domains.get(cookie.domain)
        if kept is None or kept.pop((cookie.path, cookie.name), None) is None:
            return
        self._size -= 1
        self._ready.clear()
        if not kept:
            del self._domains[cookie.domain]

    def _crowded_out(self, domain: str, now: float) -> list[Cookie]:
        """What is dropped of a domain that has too many: what is over, otherwise what was set longest ago."""
        kept = self._domains[domain]
        if len(kept) <= MAX_PER_DOMAIN:
            return []
        oldest_first = sorted(kept.values(), key=lambda cookie: not cookie.is_over(now))
        dropped = oldest_first[: len(kept) - MAX_PER_DOMAIN]
        for cookie in dropped:
            self._remove(cookie)
        return [_gone(cookie, now) for cookie in dropped]

    def _shrink(self) -> None:
        while self._size > self._limit:
            _, dropped = self._domains.popitem(last=False)
            self._size -= len(dropped)
            self._ready.clear()


def _gone(cookie: Cookie, now: float) -> Cookie:
    """How others are told that a cookie is no more."""
    return replace(cookie, value="", expires_at=0.0, set_at=now)
