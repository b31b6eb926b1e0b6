"""Cookies as browsers understand them (RFC 6265): what a site may set, and where that is sent."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tarantella.domain.cookie_date import parse_cookie_date
from tarantella.domain.scope import is_public_suffix
from tarantella.domain.struct import Discreet
from tarantella.domain.url import Url

MAX_COOKIE = 4_096  # name and value together
MAX_ATTRIBUTE = 1_024
MAX_NAME = 1_024  # a database's index takes no more of name, path and domain together
# Longer than any run, and short enough to be added to a time.
LONGEST_LIFE = 400 * 86_400.0

_SENDABLE_NAME = re.compile(r"[!-:<>-~]+")
_SENDABLE_VALUE = re.compile(r"[ -:<-~]*")
_SECONDS = re.compile(r"-?[0-9]+")


class Cookie(Discreet):
    """A cookie and where it belongs. `expires_at` None: it ends with the run."""

    unshown = frozenset({"value"})

    name: str
    value: str
    domain: str
    path: str = "/"
    secure: bool = False
    host_only: bool = True
    expires_at: float | None = None
    set_at: float = 0.0

    @property
    def key(self) -> tuple[str, str, str]:
        """What a later cookie must share with it to take its place."""
        return self.domain, self.path, self.name

    def is_over(self, now: float) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def belongs_to(self, host: str) -> bool:
        return host == self.domain or (not self.host_only and host.endswith(f".{self.domain}"))

    def goes_to(self, url: Url, path: str, now: float) -> bool:
        """Whether it is sent to this address, whose path is given along."""
        return (
            self.belongs_to(url.host)
            and path_matches(path, self.path)
            and (not self.secure or url.scheme == "https")
            and not self.is_over(now)
        )


def received(header: str, url: Url, now: float) -> Cookie | None:
    """What a Set-Cookie header from this address sets, or None where it has no right to, or nothing could be sent back."""
    pair, _, rest = header.partition(";")
    name, equals, value = (part.strip(" \t") for part in pair.partition("="))
    if not equals or not can_be_sent(name, value):
        return None
    said = _attributes(rest)
    secure = "secure" in said
    if secure and url.scheme != "https":
        return None
    domain = said.get("domain", "").removeprefix(".").lower()
    if domain and not _may_set(url.host, domain):
        return None
    host_only = not domain or (domain == url.host and (_is_address(domain) or is_public_suffix(domain)))
    path = said.get("path", "")
    cookie = Cookie(
        name=name,
        value=value,
        domain=domain or url.host,
        path=path if path.startswith("/") else _default_path(url),
        secure=secure,
        host_only=host_only,
        expires_at=_expires_at(said, now),
        set_at=now,
    )
    short = len(cookie.name) <= MAX_NAME and len(cookie.path) <= MAX_ATTRIBUTE
    return cookie if short and _keeps_its_promise(cookie) else None


def can_be_sent(name: str, value: str) -> bool:
    return (
        len(name) + len(value) <= MAX_COOKIE
        and _SENDABLE_NAME.fullmatch(name) is not None
        and _SENDABLE_VALUE.fullmatch(value) is not None
    )


def sent_to(url: Url, cookies: Iterable[Cookie], now: float) -> list[Cookie]:
    """Those cookies that a request for this address carries, the most particular paths first."""
    path = path_of(url)
    found = [cookie for cookie in cookies if cookie.goes_to(url, path, now)]
    return sorted(found, key=lambda cookie: -len(cookie.path))


def path_of(url: Url) -> str:
    """The path of an address: always there, since addresses are normalised."""
    start = url.href.index("/", url.href.index("//") + 2)
    return url.href[start:].partition("?")[0]


def path_matches(path: str, cookie_path: str) -> bool:
    if not path.startswith(cookie_path):
        return False
    return cookie_path.endswith("/") or path[len(cookie_path) : len(cookie_path) + 1] in ("", "/")


def domains_of(host: str) -> list[str]:
    """The host and all domains above it, whose cookies may be meant for it."""
    if host.startswith("["):
        return [host]
    labels = host.split(".")
    return [".".join(labels[start:]) for start in range(len(labels))]


def _attributes(text: str) -> dict[str, str]:
    """What stands behind the value; of two with the same name the last counts."""
    said = {}
    for part in text.split(";"):
        name, _, value = part.partition("=")
        if len(value) <= MAX_ATTRIBUTE:
            said[name.strip(" \t").lower()] = value.strip(" \t")
    return said


def _may_set(host: str, domain: str) -> bool:
    """Whether a host may set a cookie for this domain: its own or one above it, but none that many strangers share."""
    if host == domain:
        return True
    return host.endswith(f".{domain}") and not _is_address(host) and not is_public_suffix(domain)


def _is_address(host: str) -> bool:
    return host.startswith("[") or host.replace(".", "").isdigit()


def _default_path(url: Url) -> str:
    return path_of(url).rpartition("/")[0] or "/"


def _expires_at(said: dict[str, str], now: float) -> float | None:
    seconds = said.get("max-age", "")
    if _SECONDS.fullmatch(seconds):
        life = float(seconds)
        return now + min(life, LONGEST_LIFE) if life > 0 else 0.0
    moment = parse_cookie_date(said["expires"]) if "expires" in said else None
    return None if moment is None else min(moment, now + LONGEST_LIFE)


def _keeps_its_promise(cookie: Cookie) -> bool:
    """Names can say how a cookie was set; one that was set otherwise is a forgery."""
    name = cookie.name.lower()
    if name.startswith("__host-"):
        return cookie.secure and cookie.host_only and cookie.path == "/"
    return cookie.secure if name.startswith("__secure-") else True
