"""A session: the cookies and the storage of somebody who has logged in, as other programs write them down."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tarantella.domain.cookie import can_be_sent
from tarantella.domain.errors import InvalidInput
from tarantella.domain.struct import Discreet

MOST_COOKIES = 5_000
MOST_ORIGINS = 1_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SAME_SITE = {"strict": "Strict", "lax": "Lax", "none": "None", "no_restriction": "None"}


class Session(Discreet):
    """What a browser is given before it goes anywhere, in the form that Playwright has for it."""

    unshown = frozenset({"cookies", "origins"})

    cookies: tuple[Mapping[str, Any], ...]
    origins: tuple[Mapping[str, Any], ...] = ()

    @property
    def hosts(self) -> list[str]:
        """Where it is of use."""
        return sorted({str(cookie["domain"]).removeprefix(".") for cookie in self.cookies})

    def expires_at(self) -> float | None:
        """When the first of its cookies ends; None: none of them has an end."""
        return min((cookie["expires"] for cookie in self.cookies if cookie["expires"] > 0), default=None)

    def to_json(self) -> dict[str, Any]:
        return {"cookies": [dict(each) for each in self.cookies], "origins": [dict(each) for each in self.origins]}


def check_session_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name[:100]!r} can't be the name of a session.",
            field="session",
            remedy="Use letters, digits, dots, dashes and underscores, 64 at most.",
        )
    return name


def session_of(data: object) -> Session:
    """A session from Playwright's storage state, or from the list of cookies that browsers' extensions export."""
    if isinstance(data, Mapping):
        cookies, origins = data.get("cookies"), data.get("origins", [])
    else:
        cookies, origins = data, []
    if not isinstance(cookies, list) or not isinstance(origins, list):
        raise _unusable("That is not a session.")
    if len(cookies) > MOST_COOKIES or len(origins) > MOST_ORIGINS:
        raise _unusable(f"There are more than {MOST_COOKIES:,} cookies or {MOST_ORIGINS:,} origins in it.")
    session = Session(tuple(map(_cookie, cookies)), tuple(map(_origin, origins)))
    if not session.cookies and not session.origins:
        raise _unusable("There is nothing in it.")
    return session


def session_of_cookies(cookies: Iterable[Mapping[str, str]]) -> Session:
    """A session from a user's cookies.txt."""
    return session_of([{**cookie, "secure": cookie.get("secure") == "true"} for cookie in cookies])


def _cookie(data: object) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise _unusable("A cookie in it is no object.")
    name, value, domain = (data.get(key) for key in ("name", "value", "domain"))
    if not all(isinstance(each, str) for each in (name, value, domain)) or not domain:
        raise _unusable("A cookie in it lacks a name, a value or a domain.")
    assert isinstance(name, str) and isinstance(value, str) and isinstance(domain, str)
    if not can_be_sent(name, value):
        raise _unusable("A cookie in it can't be sent.")
    expires = data.get("expires", data.get("expirationDate", -1))
    if isinstance(expires, bool) or not isinstance(expires, int | float):
        expires = -1
    same_site = _SAME_SITE.get(str(data.get("sameSite", "")).lower())
    return {
        "name": name,
        "value": value,
        "domain": domain.lower(),
        "path": data.get("path")
        if isinstance(data.get("path"), str) and str(data.get("path")).startswith("/")
        else "/",
        "expires": float(expires),
        "httpOnly": data.get("httpOnly") is True,
        "secure": data.get("secure") is True,
        **({"sameSite": same_site} if same_site is not None else {"sameSite": "Lax"}),
    }


def _origin(data: object) -> dict[str, Any]:
    if not isinstance(data, Mapping) or not isinstance(data.get("origin"), str):
        raise _unusable("An origin in it has no address.")
    items = data.get("localStorage", [])
    if not isinstance(items, list):
        raise _unusable("The storage in it is no list.")
    kept = []
    for item in items:
        if (
            not isinstance(item, Mapping)
            or not isinstance(item.get("name"), str)
            or not isinstance(item.get("value"), str)
        ):
            raise _unusable("The storage in it has something without a name or a value.")
        kept.append({"name": item["name"], "value": item["value"]})
    return {"origin": data["origin"], "localStorage": kept}


def _unusable(message: str) -> InvalidInput:
    # What is in it is a secret: nothing of it is repeated.
    return InvalidInput(
        message,
        field="session",
        remedy="Give a storage state of Playwright's, cookies as JSON, or a cookies.txt.",
    )
