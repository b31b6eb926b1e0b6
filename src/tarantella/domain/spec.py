"""What a run should do: the snapshot of its inputs that never changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any, Self

from tarantella.domain.backoff import Backoff
from tarantella.domain.browsing import Browsing
from tarantella.domain.errors import InvalidInput
from tarantella.domain.field import Field, check_names
from tarantella.domain.run import Priority
from tarantella.domain.scope import ScopeKind
from tarantella.domain.session import check_session_name
from tarantella.domain.sitemap import chosen
from tarantella.domain.strategy import STRATEGIES
from tarantella.domain.struct import Discreet, Frozen, asdict, field
from tarantella.domain.trap import TrapLimits

__all__ = ["TEXT_MODES", "Field", "Secrets", "Spec"]

TEXT_MODES = ("fast", "article", "none")
# Where a request ends, and how long its connection lasts, is the client's to say: a server would wait for what never comes.
_FRAMING = frozenset(
    "connection content-length keep-alive proxy-connection te trailer transfer-encoding upgrade".split()
)
# What can't be said in a header: control characters but the tab, and halves of characters.
_UNSENDABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")


class Secrets(Discreet):
    """What a run needs and nobody may see."""

    unshown = frozenset({"headers", "cookies", "proxy", "values"})

    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: tuple[Mapping[str, str], ...] = ()
    proxy: str | None = None
    servers: tuple[str, ...] = ()  # those that may see the headers: where the run starts, not where it is led
    values: Mapping[str, str] = field(default_factory=dict)  # what a browser fills in, by name
    near_proxy: bool = True  # the proxy may be in a private network: whoever named it sits at this machine


class Spec(Frozen):
    """Everything a run was asked to do, with the default for what wasn't said."""

    depth: int | None = 1
    max_pages: int = 10_000
    concurrency: int = 10
    per_host: int = 8
    delay: float = 0.0
    deadline_seconds: float | None = None
    attempts: int = 3
    backoff: Backoff = Backoff()
    scope: ScopeKind = ScopeKind.HOST
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()  # addresses, and `auto` for those that the sites themselves name
    traps: TrapLimits = TrapLimits()
    obey_robots: bool = True
    user_agent: str | None = None
    ca_file: str | None = None
    allow_networks: tuple[str, ...] = ()
    connect_timeout: float = 10.0
    total_timeout: float = 20.0
    max_body: int = 20_000_000
    max_decoded: int = 50_000_000
    cache_dir: str | None = None
    cache_ttl: float | None = None
    cache_bytes: int = 1_000_000_000
    text: str = "fast"
    fields: tuple[Field, ...] = ()
    item: Field | None = None  # on list pages: what each record is made of
    pagination: Field | None = None  # on list pages: where the next one is
    keep_bodies: bool = False
    keep_cookies: bool = True
    partial_ok: bool = True
    durable: bool = False
    strategy: str = "http"  # that pages start with
    auto: bool = False  # it was left to us: pages that are empty without scripts get another, as do sites that need it
    browser: Browsing = Browsing()
    session: str | None = None  # the name of a login that was stored
    priority: Priority = Priority.MEDIUM
    secrets: Secrets = Secrets()

    def __post_init__(self) -> None:
        for name, low, high in _BOUNDS:
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and low <= value <= high):
                raise InvalidInput(
                    f"{name} is {value!r}, which is not between {low} and {high}.",
                    field=name,
                    remedy="Choose a value in that range.",
                )
        if self.text not in TEXT_MODES:
            raise InvalidInput(
                f"text is {self.text!r}.", field="text", remedy=f"Choose one of {', '.join(TEXT_MODES)}."
            )
        if self.strategy not in STRATEGIES:
            raise InvalidInput(
                f"There is no strategy {self.strategy!r}.",
                field="strategy",
                remedy=f"Choose one of {', '.join(STRATEGIES)}.",
            )
        if self.user_agent is not None and _UNSENDABLE.search(self.user_agent):
            raise InvalidInput(
                f"The user agent {self.user_agent[:80]!r} has a character in it that can't be sent.",
                field="user_agent",
                remedy="Leave out line breaks and other control characters.",
            )
        if self.session is not None:
            check_session_name(self.session)
        check_names(self.fields)
        if self.item is not None:
            _check_items(self.fields)
        for sitemap in self.sitemaps:
            chosen(sitemap)
        for network in self.allow_networks:
            try:
                ip_network(network, strict=False)
            except ValueError:
                raise InvalidInput(
                    f"{network!r} is not a network.",
                    field="allow_networks",
                    remedy="Write it like 10.0.0.0/8 or ::1/128.",
                ) from None

    @property
    def is_for_a_browser(self) -> bool:
        """Whether it says what only a browser can do: wait, click, scroll, take pictures, or use a login that was stored."""
        return self.session is not None or self.browser != Browsing()

    @property
    def wish(self) -> str:
        """The strategy as it was asked for."""
        return "auto" if self.auto else self.strategy

    def check_patterns(self) -> None:
        """Raises InvalidInput for one that matches no address. Runs that were stored before this was refused are still there."""
        for name in ("include", "exclude"):
            if not all(pattern.strip() for pattern in getattr(self, name)):
                raise InvalidInput(
                    f"A pattern to {name} is empty, and matches nothing.",
                    field=name,
                    remedy="Write one over whole addresses, like '*/blog/*', or leave it out.",
                )

    def check_secrets(self) -> None:
        """Raises InvalidInput where one is to be filled in that nobody gave, or is not to be sent. A spec without them is still one."""
        for name in self.secrets.headers:
            if name.lower() == "host":
                # Over HTTP/2 and in a browser it can't differ from the address, and robots.txt, cookies and pauses are the address's.
                raise InvalidInput(
                    f"The header {name!r} is not for you to set: it is the host of the address.",
                    field="headers",
                    remedy="Name the host in the address; where it is to be found elsewhere than usual, put it into /etc/hosts.",
                )
            if name.lower() in _FRAMING:
                raise InvalidInput(
                    f"The header {name!r} is not for you to set: it belongs to the connection, not to the page.",
                    field="headers",
                    remedy="Leave it out.",
                )
        for name in self.browser.secrets:
            if name not in self.secrets.values:
                raise InvalidInput(
                    f"The secret {name!r} is to be filled in, and was not given.",
                    field="browser.actions",
                    remedy=f"Set {name} in the environment of the command, or give it in the job's `fill`.",
                )

    def to_json(self) -> dict[str, Any]:
        """The snapshot without its secrets. Where it starts is not in it: those are pages."""
        data = asdict(self)
        del data["secrets"]
        data["backoff"] = asdict(self.backoff)
        data["traps"] = asdict(self.traps)
        data["browser"] = self.browser.to_json()
        data["fields"] = [wanted.to_json() for wanted in self.fields]
        for name in ("item", "pagination"):
            place: Field | None = getattr(self, name)
            data[name] = place.to_json() if place is not None else None
        return data

    def secrets_json(self) -> dict[str, Any]:
        return asdict(self.secrets)

    @classmethod
    def from_json(cls, data: Mapping[str, Any], secrets: Mapping[str, Any] | None = None) -> Self:
        known = cls.__struct_fields__
        values = {name: value for name, value in data.items() if name in known}
        for name in ("include", "exclude", "sitemaps", "allow_networks"):
            values[name] = tuple(values.get(name, ()))
        values["fields"] = tuple(Field.from_json(wanted) for wanted in values.get("fields", ()))
        for name in ("item", "pagination"):
            values[name] = Field.from_json(values[name]) if values.get(name) else None
        values["backoff"] = Backoff(**values["backoff"])
        values["browser"] = Browsing.from_json(values.get("browser") or {})
        values["traps"] = TrapLimits(**values.get("traps", {}))
        if values.get("user_agent"):
            # Runs that were stored before this was refused must be listed all the same.
            values["user_agent"] = _UNSENDABLE.sub("", values["user_agent"])
        values["scope"] = ScopeKind(values["scope"])
        values["priority"] = Priority(values["priority"])
        if secrets:
            values["secrets"] = Secrets(
                secrets["headers"],
                tuple(secrets["cookies"]),
                secrets["proxy"],
                tuple(secrets.get("servers", ())),
                secrets.get("values") or {},
                secrets.get("near_proxy", True),
            )
        return cls(**values)


def _check_items(wanted: tuple[Field, ...]) -> None:
    """What stands in an item is found by selectors: names are looked for in whole pages."""
    if not wanted:
        raise InvalidInput("There is an item but no field.", remedy="Say what each item has.", field="fields")
    for each in wanted:
        if each.is_plain:
            raise InvalidInput(
                f"The field {each.name!r} has no selector, and the records are the items of a list.",
                remedy="Say where it stands in an item, with css, xpath or jmespath.",
                field="fields",
            )


DEADLINE_BOUNDS = (0.001, 366 * 86_400.0)
_BOUNDS: tuple[tuple[str, float, float], ...] = (
    ("depth", 1, 1_000_000),
    ("max_pages", 1, 100_000_000),
    ("concurrency", 1, 1_000),
    ("per_host", 1, 1_000),
    ("delay", 0.0, 3_600.0),
    ("deadline_seconds", *DEADLINE_BOUNDS),
    ("attempts", 1, 100),
    ("connect_timeout", 0.01, 600.0),
    ("total_timeout", 0.01, 3_600.0),
    ("max_body", 1, 2**40),
    ("max_decoded", 1, 2**40),
    ("cache_ttl", 0.0, 100 * 366 * 86_400.0),
    ("cache_bytes", 1_000_000, 2**50),
)
