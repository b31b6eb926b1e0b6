"""Cookies: read from a browser's export, collected along redirects, and sent only where they belong."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from wreq import Cookie

from tarantella.domain.errors import InvalidInput
from tarantella.domain.url import Url

# A cookie as it is kept with a run: domain, path, name, value, secure ("true" or "false").
# A domain with a leading dot holds for the hosts below it too, one without for that host alone.
Jar = Mapping[str, str]

MAX_FILE = 10_000_000
MAX_COLLECTED = 50
MAX_COOKIE = 4_096

_SENDABLE_NAME = re.compile(r"[!-:<>-~]+")
_SENDABLE_VALUE = re.compile(r"[ -:<-~]*")


def matching(url: Url, cookies: Iterable[Jar]) -> dict[str, str]:
    """Those cookies, by name, that may be sent to this address."""
    path = _path(url.href)
    return {
        cookie["name"]: cookie["value"]
        for cookie in cookies
        if _domain_matches(url.host, cookie.get("domain", ""))
        and _path_matches(path, cookie.get("path") or "/")
        and (url.scheme == "https" or str(cookie.get("secure", "")).lower() not in ("true", "1"))
    }


class Collected:
    """The cookies that one host set while it redirected us."""

    def __init__(self) -> None:
        self._cookies: dict[tuple[str, str], Jar] = {}

    def __iter__(self) -> Iterator[Jar]:
        return iter(self._cookies.values())

    def take(self, url: Url, cookies: Iterable[Cookie], now: float) -> None:
        """Keep what this address set, forget what it deleted, ignore what it has no right to set."""
        for cookie in cookies:
            domain = (cookie.domain or url.host).lstrip(".").lower()
            if not _domain_matches(url.host, f".{domain}") or (cookie.secure and url.scheme != "https"):
                continue
            path = cookie.path if cookie.path and cookie.path.startswith("/") else _default_path(url.href)
            key = (path, cookie.name)
            self._cookies.pop(key, None)
            if not _expired(cookie, now) and _can_be_sent(cookie) and len(self._cookies) < MAX_COLLECTED:
                # Whatever Domain says: these cookies never leave the host that set them.
                self._cookies[key] = {
                    "domain": url.host,
                    "path": path,
                    "name": cookie.name,
                    "value": cookie.value,
                    "secure": "true" if cookie.secure else "false",
                }


def read_cookies(path: str | Path, now: float | None = None) -> tuple[dict[str, str], ...]:
    """The cookies of a Netscape cookies.txt, as browsers' extensions and curl write it."""
    text = _read(Path(path))
    now = time.time() if now is None else now
    found, expired = [], 0
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.removeprefix("#HttpOnly_")
        if not line.strip() or line.startswith("#"):
            continue
        cookie, expires = _parse_line(line, number, path)
        if 0 < expires < now:
            expired += 1
        else:
            found.append(cookie)
    if expired and not found:
        raise _unusable(
            f"All {expired} cookies in {path} have expired.", "Log in with the browser and export them again."
        )
    return tuple(found)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
        if len(data) > MAX_FILE:
            raise _unusable(f"{path} is larger than {MAX_FILE} bytes.", "That is not a cookies file.")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise _unusable(f"{path} can't be read: {error.strerror}.", "Check the path.") from None
    except UnicodeDecodeError:
        raise _unusable(f"{path} is not a text file.", "Give a cookies.txt in Netscape format.") from None


def _parse_line(line: str, number: int, path: str | Path) -> tuple[dict[str, str], float]:
    fields = line.rstrip("\r\n").split("\t")
    if len(fields) == 6:
        # Some exports drop the last tab of a cookie whose value is empty.
        fields.append("")
    if len(fields) != 7:
        raise _unusable(
            f"Line {number} of {path} has {len(fields)} tab-separated fields instead of 7.",
            "Each line needs: domain, subdomains, path, secure, expiry, name, value.",
        )
    domain, subdomains, cookie_path, secure, expiry, name, value = fields
    domain = domain.strip().lstrip(".").lower()
    try:
        expires = float(expiry or 0)
    except ValueError:
        raise _unusable(
            f"Line {number} of {path} has {expiry[:40]!r} as the expiry.", "It must be a Unix time, or 0."
        ) from None
    if not domain or not _SENDABLE_NAME.fullmatch(name) or not _SENDABLE_VALUE.fullmatch(value):
        raise _unusable(
            f"Line {number} of {path} has a domain, name or value that can't be sent.",
            "Export the cookies again, or remove that line.",
        )
    cookie = {
        "domain": f".{domain}" if subdomains.upper() == "TRUE" else domain,
        "path": cookie_path if cookie_path.startswith("/") else "/",
        "name": name,
        "value": value,
        "secure": "true" if secure.upper() == "TRUE" else "false",
    }
    return cookie, expires


def _unusable(message: str, remedy: str) -> InvalidInput:
    return InvalidInput(message, remedy=remedy, field="cookies_file")


def _domain_matches(host: str, domain: str) -> bool:
    return host == domain.removeprefix(".") or (domain.startswith(".") and host.endswith(domain))


def _path_matches(path: str, cookie_path: str) -> bool:
    if not path.startswith(cookie_path):
        return False
    return cookie_path.endswith("/") or path[len(cookie_path) : len(cookie_path) + 1] in ("", "/")


def _path(href: str) -> str:
    """The path of an absolute address: always there, since addresses are normalised."""
    start = href.index("/", href.index("//") + 2)
    return href[start:].partition("?")[0]


def _default_path(href: str) -> str:
    return _path(href).rpartition("/")[0] or "/"


def _expired(cookie: Cookie, now: float) -> bool:
    if cookie.max_age is not None:
        return cookie.max_age.total_seconds() <= 0
    return cookie.expires is not None and cookie.expires.timestamp() <= now


def _can_be_sent(cookie: Cookie) -> bool:
    return (
        len(cookie.name) + len(cookie.value) <= MAX_COOKIE
        and _SENDABLE_NAME.fullmatch(cookie.name) is not None
        and _SENDABLE_VALUE.fullmatch(cookie.value) is not None
    )
