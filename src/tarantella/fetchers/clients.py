"""HTTP clients, each for one host and pinned to the addresses that the guard checked."""

from __future__ import annotations

import os
import re
import ssl
from collections import OrderedDict
from datetime import timedelta
from functools import lru_cache
from itertools import count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from wreq import CertStore, Client, DnsOptions
from wreq.http1 import Http1Options
from wreq.http2 import Http2Options
from wreq.redirect import Policy
from wreq.runtime import Runtime

from tarantella.domain.failure import Failure
from tarantella.domain.struct import Mutable
from tarantella.domain.url import Url
from tarantella.fetchers.addresses import Address
from tarantella.fetchers.contract import FetchError, Options
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.proxy import parse_proxy
from tarantella.fetchers.translation import proxy_failure

if TYPE_CHECKING:
    # A type only: the compiled module has no such name.
    from wreq.wreq import ClientConfig

MAX_CLIENTS = 512
# How long a client is used before the guard is asked again whether its addresses still hold.
RECHECK_SECONDS = 30.0
# Idle connections are given up soon: some for each of hundreds of hosts would use up the file descriptors.
IDLE_SECONDS = 20.0
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
# What encoding.py decodes, so that bytes can be counted as they come over the wire.
ACCEPT_ENCODING = "gzip, deflate"
# What browsers forgive: a header over several lines, blanks before its colon, a line that is none.
_FORGIVING = Http1Options(
    allow_obsolete_multiline_headers_in_responses=True,
    allow_spaces_after_header_name_in_responses=True,
    ignore_invalid_headers_in_responses=True,
)
# The head of an answer may be as long as browsers allow; by itself the client takes 16 KiB over HTTP/2.
_LONG_HEADS = Http2Options(max_header_list_size=256 * 1024)

_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


class Way(NamedTuple):
    """What of a run's options a client depends on; runs that agree in it share their clients."""

    user_agent: str
    headers: tuple[tuple[str, str], ...]
    proxy: str | None
    near_proxy: bool
    ca_file: str | None
    allow_networks: tuple[str, ...]
    connect_timeout: float
    total_timeout: float


class Pinned(Mutable):
    """A client for one host, and the addresses that it dials."""

    client: Client
    addresses: tuple[Address, ...]
    fresh_until: float = 0.0
    answered: float | None = None  # when its server was last asked and did answer


class Clients:
    """The clients in use, the least recently used forgotten first.

    A client that is forgotten is never closed: whoever uses it goes on, and its connections end with it.
    """

    def __init__(self, guard: Guard, size: int = MAX_CLIENTS) -> None:
        self._guard = guard
        self._size = size
        self._pinned: OrderedDict[tuple[int, str, int, bool], Pinned] = OrderedDict()
        self._numbers: dict[Way, int] = {}
        self._next = count()
        # By identity, because a run has one options object for all its pages and comparing them costs time.
        # The object is kept with its number, so that its identity can't be given to another.
        self._seen: OrderedDict[int, tuple[Options, int]] = OrderedDict()

    def ready(self, options: Options, url: Url, now: float, *, trusted: bool) -> Pinned | None:
        """The client for this URL if there is one that needs no new check by this time."""
        key = (self._number(options), url.host, url.port, trusted)
        pinned = self._pinned.get(key)
        if pinned is None or pinned.fresh_until < now:
            return None
        self._pinned.move_to_end(key)
        return pinned

    async def prepare(self, options: Options, url: Url, *, trusted: bool, within: float) -> Pinned:
        """A client that dials what the guard has just allowed, and nothing else."""
        key = (self._number(options), url.host, url.port, trusted)
        addresses = await self._checked(options, url, within)
        pinned = self._pinned.get(key)
        if pinned is None or set(pinned.addresses) != set(addresses):
            pinned = Pinned(_build(options, url, addresses, trusted=trusted), addresses)
            self._pinned[key] = pinned
        pinned.fresh_until = monotonic() + RECHECK_SECONDS
        self._pinned.move_to_end(key)
        while len(self._pinned) > self._size:
            self._pinned.popitem(last=False)
        return pinned

    def renewed(self, options: Options, url: Url, pinned: Pinned, *, trusted: bool) -> Pinned:
        """A client like this one without its connections, in its place."""
        client = _build(options, url, pinned.addresses, trusted=trusted)
        new = Pinned(client, pinned.addresses, pinned.fresh_until)
        self._pinned[self._number(options), url.host, url.port, trusted] = new
        return new

    def forget(self) -> None:
        self._pinned.clear()

    async def _checked(self, options: Options, url: Url, within: float) -> tuple[Address, ...]:
        networks = options.allow_networks
        if options.proxy is None:
            return await self._guard.addresses(url, networks, within=within)
        await self._guard.check_by_name(url, networks, within=within)
        proxy = parse_proxy(options.proxy)
        try:
            return await self._guard.proxy_addresses(proxy.url, networks, near=options.near_proxy, within=within)
        except FetchError as error:
            if error.failure is Failure.DENIED:
                raise
        raise proxy_failure("dns")

    def _number(self, options: Options) -> int:
        seen = self._seen.get(id(options))
        if seen is not None:
            return seen[1]
        way = Way(
            options.user_agent,
            tuple(sorted(options.headers.items())),
            options.proxy,
            options.near_proxy,
            options.ca_file,
            options.allow_networks,
            options.connect_timeout,
            options.total_timeout,
        )
        if len(self._numbers) >= self._size:
            # A process that lives long sees many runs. Their clients age out by themselves.
            self._numbers.clear()
            self._seen.clear()
        number = self._numbers.setdefault(way, next(self._next))
        self._seen[id(options)] = (options, number)
        while len(self._seen) > self._size:
            self._seen.popitem(last=False)
        return number


def _build(options: Options, url: Url, addresses: tuple[Address, ...], *, trusted: bool) -> Client:
    dns = DnsOptions()
    headers = options.headers if trusted else {}
    config: ClientConfig = {
        "runtime": _runtime(os.getpid()),
        "user_agent": options.user_agent,
        "headers": {"accept": ACCEPT, "accept-encoding": ACCEPT_ENCODING}
        | {name.lower(): value for name, value in headers.items()},
        "redirect": Policy.none(),
        "timeout": timedelta(seconds=options.total_timeout),
        "connect_timeout": timedelta(seconds=options.connect_timeout),
        "pool_idle_timeout": timedelta(seconds=IDLE_SECONDS),
        "dns_options": dns,
        "http1_options": _FORGIVING,
        "http2_options": _LONG_HEADS,
        # The client forgets the size of what it decodes. What we ask for is decoded here; br and zstd, which some
        # servers send unasked, are left to the client.
        "gzip": False,
        "deflate": False,
    }
    if options.proxy is None:
        # The environment's proxies are not ours to use.
        config["no_proxy"] = True
        _pin(dns, url.host, addresses)
    else:
        # `no_proxy` must not be said here: it would switch this proxy off.
        proxy = parse_proxy(options.proxy)
        config["proxies"] = [proxy.for_client()]
        # The site's name leads nowhere, so that a direct connection could not even be tried.
        _pin(dns, url.host, ())
        _pin(dns, proxy.host, addresses)
    if options.ca_file is not None:
        config["tls_verify"] = _cert_store(options.ca_file)
    return Client(**config)


def _pin(dns: DnsOptions, host: str, addresses: tuple[Address, ...]) -> None:
    # With a final dot it is another name to the client, and it would look that one up by itself.
    dns.add_resolve(host, addresses)
    dns.add_resolve(f"{host}.", addresses)


@lru_cache(maxsize=1)
def _runtime(_pid: int) -> Runtime:
    """One runtime with one thread per process: more only get in the way of Python. A fork needs its own."""
    return Runtime(workers=1)


@lru_cache(maxsize=16)
def _cert_store(ca_file: str) -> CertStore:
    """The system's authorities and those in the file."""
    try:
        text = Path(ca_file).read_text(encoding="ascii", errors="replace")
        certificates = _CERTIFICATE.findall(text)
        # The client takes any bytes for a certificate; the standard library looks at them.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata="\n".join(certificates))
    except (OSError, ValueError):
        raise FetchError(
            Failure.NETWORK, "tls", f"The CA file {ca_file} can't be read, or holds no PEM certificate."
        ) from None
    return CertStore(pem_certs=certificates, default_paths=True)
