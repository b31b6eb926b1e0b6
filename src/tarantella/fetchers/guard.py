"""The one egress guard: nothing dials out except to addresses that came from here."""

from __future__ import annotations

import socket
from collections.abc import Collection, Iterable
from ipaddress import ip_address

from tarantella.domain.failure import Failure
from tarantella.domain.url import Url
from tarantella.fetchers.addresses import (
    Address,
    is_allowed,
    is_metadata,
    is_public,
    parse_address,
    plain,
    single,
)
from tarantella.fetchers.contract import FetchError
from tarantella.fetchers.dns import Dns

DNS_TIMEOUT = 5.0


class Guard:
    """Resolves a host once, and gives back addresses only if every one of them may be dialled."""

    def __init__(
        self,
        *,
        refused_endpoints: Collection[tuple[str, int]] = (),
        dns: Dns | None = None,
        dns_timeout: float = DNS_TIMEOUT,
    ) -> None:
        self._refused = frozenset((plain(ip_address(ip)), port) for ip, port in refused_endpoints)
        self._dns = dns or Dns()
        self._dns_timeout = dns_timeout

    async def addresses(
        self, url: Url, allow_networks: Iterable[str] = (), *, within: float | None = None
    ) -> tuple[Address, ...]:
        """The addresses to dial for this URL. One address that is not public refuses them all."""
        found = await self._resolve(url.host, within)
        for address in found:
            self._refuse_ourselves(url, address)
            if not is_public(address) and not is_allowed(address, allow_networks):
                raise _denied(url, address)
        return found

    async def proxy_addresses(
        self, url: Url, allow_networks: Iterable[str] = (), *, near: bool = True, within: float | None = None
    ) -> tuple[Address, ...]:
        """The addresses of a proxy, which may be private where it is near: somebody at this machine named it, not a page.

        Metadata services and our own control plane are nobody's proxy.
        """
        found = await self._resolve(url.host, within)
        for address in found:
            self._refuse_ourselves(url, address)
            refused = is_metadata(address) if near else not is_public(address)
            if refused and not is_allowed(address, allow_networks):
                raise _denied(url, address)
        return found

    async def check_by_name(self, url: Url, allow_networks: Iterable[str] = (), *, within: float | None = None) -> None:
        """Refuse a URL that we would not fetch, where nothing is dialled from here: by a proxy, or from a cache.

        What this machine can tell is told: an address, or a name that leads to a refused address here, is refused. A name
        that is unknown here is left to the proxy, which resolves it itself.
        """
        try:
            await self.addresses(url, allow_networks, within=within)
        except FetchError as error:
            if error.failure is Failure.DENIED:
                raise

    async def _resolve(self, host: str, within: float | None) -> tuple[Address, ...]:
        if (address := parse_address(host)) is not None:
            return (address,)
        seconds = self._dns_timeout if within is None else min(within, self._dns_timeout)
        try:
            return await self._dns.resolve(host, seconds)
        except TimeoutError:
            raise FetchError(
                Failure.TIMEOUT, "dns", f"No address for {host} was found within {seconds:g} seconds."
            ) from None
        except (OSError, ValueError, RuntimeError):
            raise FetchError(Failure.NETWORK, "dns", f"The name {host} has no address.") from None

    def _refuse_ourselves(self, url: Url, address: Address) -> None:
        for refused, port in self._refused:
            if port == url.port and _same_machine(plain(address), refused):
                raise FetchError(
                    Failure.DENIED,
                    "control_plane",
                    f"{url.host}:{url.port} is Tarantella's own control port, which is never fetched.",
                )


def _same_machine(address: Address, refused: Address) -> bool:
    """Whether dialling one reaches a listener on the other: 0.0.0.0 and :: stand for all of our addresses."""
    if address == refused:
        return True
    return (address.is_unspecified and _is_ours(refused)) or (refused.is_unspecified and _is_ours(address))


def _is_ours(address: Address) -> bool:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            # Only an address of this machine can be bound; nothing is sent.
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True


def _denied(url: Url, address: Address) -> FetchError:
    where = url.host if parse_address(url.host) == address else f"{url.host} is at {address}, which"
    return FetchError(
        Failure.DENIED,
        "address",
        f"{where} is not a public address. To fetch it all the same: --allow-network {single(address)}",
    )
