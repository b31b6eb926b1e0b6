"""What a strategy is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from tarantella.domain.browsing import Browsing
from tarantella.domain.cookie import Cookie
from tarantella.domain.failure import Failure
from tarantella.domain.struct import Discreet, Frozen, Struct, field
from tarantella.domain.url import Url

# How an answer came.
HTTP_1 = "http/1.1"
HTTP_2 = "h2"


class Caching(Frozen):
    """Where a run's answers are kept, and for how many seconds they are fresh; None is for ever."""

    folder: str
    ttl: float | None = None
    max_bytes: int = 1_000_000_000


class Options(Discreet):
    """How a run wants its pages fetched; one object for all of a run's pages."""

    unshown = frozenset({"headers", "cookies", "proxy", "secrets"})

    user_agent: str
    headers: Mapping[str, str] = field(default_factory=dict)
    # Those that may see `headers`: the servers of the run's start URLs. Nobody else gets a user's credentials.
    trusted_servers: frozenset[str] = frozenset()
    cookies: tuple[Mapping[str, str], ...] = ()  # as the user gave them
    proxy: str | None = None
    near_proxy: bool = True  # its address may be a private one
    ca_file: str | None = None
    allow_networks: tuple[str, ...] = ()
    connect_timeout: float = 10.0
    total_timeout: float = 20.0
    max_body: int = 20_000_000
    max_decoded: int = 50_000_000
    max_redirects: int = 10
    cache: Caching | None = None
    owner: str = ""  # whose pages may share a browser's cookies and storage: a job, or a run without one
    browsing: Browsing | None = None
    session: str | None = None  # the name of a stored login
    secrets: Mapping[str, str] = field(default_factory=dict)  # what a browser fills in, by name
    watch_exchanges: bool = False  # keep what a rendered page asks for in JSON


class Exchange(NamedTuple):
    """One question that a page's own scripts asked for data, and the answer: what a recording is made from."""

    method: str
    url: str
    request_headers: Mapping[str, str]
    request_body: bytes | None
    status: int
    headers: Mapping[str, str]
    body: bytes


class Artifact(NamedTuple):
    """Something kept of a page beside its record: a `screenshot` in PNG, or the `html` as it stood in the browser."""

    kind: str
    data: bytes


class Request(Struct, frozen=True):
    """One page to fetch.

    `cookies` are those that sites have set so far and this host may see. `follows` says of a redirect on the same host
    whether it may be followed at once; one that may not is handed back, as one to another host is.
    """

    url: Url
    options: Options
    hops: int = 0
    cookies: tuple[Cookie, ...] = ()
    follows: Callable[[Url], bool] | None = None
    headers: Mapping[str, str] | None = None  # of this request alone
    cut: int | None = None  # of a longer body only so much is wanted, and the rest is no failure
    method: str = "GET"
    body: bytes | None = None
    strategy: str = "http"  # which of them is to fetch it


class Response(Struct, frozen=True):
    """What a site answered, and the cookies it set on the way.

    `redirect_to` is set when the answer leads to where it may not be followed at once: the page moves there.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    hops: int = 0
    redirect_to: Url | None = None
    cookies: tuple[Cookie, ...] = ()
    protocol: str = HTTP_1
    from_cache: bool = False  # the body is as it was stored, even if the site was asked
    exchanges: tuple[Exchange, ...] = ()  # what the page's scripts asked for, where that was to be watched
    artifacts: tuple[Artifact, ...] = ()


class FetchError(Exception):
    """An attempt that gave no response, in the words of the failure table."""

    def __init__(self, failure: Failure, detail: str, message: str = "") -> None:
        super().__init__(message or detail)
        self.failure = failure
        self.detail = detail
        self.message = message or detail


class Fetcher(Protocol):
    """A strategy: gives a response or raises FetchError, and nothing else."""

    async def fetch(self, request: Request) -> Response: ...

    async def close(self) -> None: ...
