"""Who may ask what of the control plane: scopes, names that a server answers to, and requests from other web sites."""

from __future__ import annotations

from collections.abc import Collection
from enum import IntEnum
from ipaddress import ip_address

READS = frozenset({"GET", "HEAD", "OPTIONS"})
# By exact match: whoever watches a server needs no token for it.
OPEN_PATHS = frozenset({"/health", "/healthz", "/readyz"})
LOCAL_NAMES = frozenset({"localhost"})


class Scope(IntEnum):
    """What a token is good for; each includes those before it."""

    READ = 1  # look at everything
    WRITE = 2  # submit and steer
    ADMIN = 3  # say what sites may be asked

    @property
    def word(self) -> str:
        return self.name.lower()


SCOPES = {scope.word: scope for scope in Scope}


def scope_needed(method: str, path: str) -> Scope | None:
    """What a request needs; None where anybody may ask."""
    if path in OPEN_PATHS and method in READS:
        return None
    if method in READS:
        return Scope.READ
    return Scope.ADMIN if path == "/sites" or path.startswith("/sites/") else Scope.WRITE


def host_is_known(header: str, names: Collection[str]) -> bool:
    """Whether a Host header is one that the server answers to.

    A name may lead a browser here that knows nothing of us, because its owner made it lead to this machine; so only known
    names are answered. An address can't be made to lead elsewhere.
    """
    name = host_of(header)
    if name is None:
        return False
    try:
        ip_address(name)
    except ValueError:
        return name in LOCAL_NAMES or name in names
    return True


def host_of(header: str) -> str | None:
    """The host in a Host header, in lower case and without its port; None where there is none."""
    text = header.strip().lower()
    if text.startswith("["):
        address, bracket, rest = text[1:].partition("]")
        return address if bracket and (not rest or _is_port(rest)) else None
    name, colon, port = text.partition(":")
    if not name or (colon and not _is_port(f":{port}")):
        return None
    return name.rstrip(".") or None


def comes_from_elsewhere(origin: str | None, host: str, site: str | None) -> bool:
    """Whether a browser sends this for a page of another web site."""
    if site is not None and site.strip().lower() in ("cross-site", "same-site"):
        return True
    if origin is None:
        return False
    return origin.strip().lower().partition("://")[2] != host.strip().lower()


def _is_port(text: str) -> bool:
    return text.startswith(":") and text[1:].isdecimal() and text.isascii() and len(text) <= 6
