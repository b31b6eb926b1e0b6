"""Cookies: read from a browser's export, taken from answers, and put into requests."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path

from wreq import HeaderMap

from tarantella.domain.cookie import Cookie, can_be_sent, path_matches, path_of, received, sent_to
from tarantella.domain.errors import InvalidInput
from tarantella.domain.url import Url

# A cookie as a user gave it and it is kept with a run: domain, path, name, value, secure ("true" or "false").
# A domain with a leading dot holds for the hosts below it too, one without for that host alone.
Given = Mapping[str, str]

MAX_FILE = 10_000_000
# Servers refuse longer headers: a page that sets many cookies would cost all the others of its host.
MOST_SENT = 8_000
# Of one answer: more than over HTTP/1 fit into a head, and than a site may keep.
MOST_SET = 100


def matching(url: Url, cookies: Iterable[Given]) -> dict[str, str]:
    """Those of a user's cookies, by name, that may be sent to this address."""
    path = path_of(url)
    return {
        cookie["name"]: cookie["value"]
        for cookie in cookies
        if _domain_matches(url.host, cookie.get("domain", ""))
        and path_matches(path, cookie.get("path") or "/")
        and (url.scheme == "https" or str(cookie.get("secure", "")).lower() not in ("true", "1"))
    }


def cookie_pairs(url: Url, given: Iterable[Given], kept: Iterable[Cookie], now: float) -> list[str]:
    """What the Cookie header of this request says: a site's own cookie takes the place of a user's with its name.

    Where they are too long together, what does not fit any more is left out.
    """
    own = sent_to(url, kept, now)
    names = {cookie.name for cookie in own}
    users = (f"{name}={value}" for name, value in matching(url, given).items() if name not in names)
    pairs: list[str] = []
    room = MOST_SENT
    for pair in (*users, *(f"{cookie.name}={cookie.value}" for cookie in own)):
        if (length := len(pair) + len("; ")) <= room:
            room -= length
            pairs.append(pair)
    return pairs


def set_by(headers: HeaderMap, url: Url, now: float) -> list[Cookie]:
    """The cookies that an answer from this address sets and may set."""
    said = islice(headers.get_all("set-cookie"), MOST_SET)
    found = (received(str(value, "latin-1"), url, now) for value in said)
    return [cookie for cookie in found if cookie is not None]


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
    if not domain or not can_be_sent(name, value):
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
