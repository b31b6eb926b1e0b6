"""A proxy as users write it, taken apart: we resolve its name, and nobody sees its password."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import unquote

import ada_url
from wreq import Proxy

from tarantella.domain.failure import Failure
from tarantella.domain.struct import Discreet
from tarantella.domain.url import Url
from tarantella.fetchers.contract import FetchError

# wreq takes any other scheme without a word, and then dials the site directly.
DEFAULT_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}


class ProxyAddress(Discreet):
    """Where a proxy is and who we are to it."""

    unshown = frozenset({"username", "password"})

    scheme: str
    host: str
    port: int
    username: str = ""
    password: str = ""

    @property
    def url(self) -> Url:
        """The proxy as something that the guard can look at."""
        return Url(f"{self.scheme}://{self.host}:{self.port}/", self.scheme, self.host, self.port)

    def for_client(self) -> Proxy:
        # The name of a site is the proxy's to resolve, so that socks5 always means socks5h.
        scheme = "socks5h" if self.scheme == "socks5" else self.scheme
        address = f"{scheme}://{self.host}:{self.port}"
        if not self.username and not self.password:
            return Proxy.all(address)
        return Proxy.all(address, username=self.username, password=self.password)


@lru_cache(maxsize=256)
def parse_proxy(text: str) -> ProxyAddress:
    """`http://user:password@host:port`, or https, socks5, socks5h."""
    scheme, separator, rest = text.strip().partition("://")
    scheme = scheme.lower()
    try:
        if not separator or scheme not in DEFAULT_PORTS:
            raise ValueError
        # Browsers' rules for hosts hold for http only, so the rest is read as if it were that.
        parsed = ada_url.URL(f"http://{rest}")
        # That parser drops ":80" as the default, which for the other schemes it is not.
        port = int(parsed.port) if parsed.port else 80 if _says_80(rest) else DEFAULT_PORTS[scheme]
    except (ValueError, UnicodeError):
        raise FetchError(
            Failure.PROXY, "address", "The proxy is not an address like http://user:password@host:port."
        ) from None
    return ProxyAddress(scheme, parsed.hostname, port, unquote(parsed.username), unquote(parsed.password))


def _says_80(rest: str) -> bool:
    return rest.partition("/")[0].rpartition("@")[2].endswith(":80")
