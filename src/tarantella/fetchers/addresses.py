"""Which IP addresses are out in public, whatever they are wrapped in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Written out rather than taken from `is_global`, whose answers differ between Python versions.
_NOT_PUBLIC_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by the customers of a provider; 100.100.100.200 is a metadata service
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's metadata service, although the address looks public
        "169.254.0.0/16",  # link-local, with most clouds' metadata service at 169.254.169.254
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; 192.0.0.192 is a metadata service
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and the broadcast address
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
_NOT_PUBLIC_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, given up long ago; who relays it is anybody's guess
        "3fff::/20",  # documentation
    )
)
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_TEREDO = IPv6Network("2001::/32")

_METADATA = tuple(
    ip_network(network)
    for network in (
        "169.254.0.0/16",
        "100.100.100.200/32",
        "168.63.129.16/32",
        "192.0.0.192/32",
        "fd00:ec2::/32",
    )
)


def parse_address(host: str) -> Address | None:
    """The address that a URL's host is, or None when it is a name."""
    try:
        return ip_address(host[1:-1] if host.startswith("[") else host)
    except ValueError:
        return None


def plain(address: Address) -> Address:
    """The IPv4 address that the kernel dials for an IPv4-mapped one; any other as it is, without its zone."""
    if not isinstance(address, IPv6Address):
        return address
    if address in _MAPPED:
        return _embedded(address, 0)
    return IPv6Address(int(address)) if address.scope_id else address


def inner(address: Address) -> IPv4Address | None:
    """The IPv4 address that packets for this IPv6 one may end up at, if it carries one."""
    if isinstance(address, IPv4Address):
        return None
    if address in _MAPPED or address in _NAT64:
        return _embedded(address, 0)
    if address in _SIX_TO_FOUR:
        return _embedded(address, 80)
    return IPv4Address(int(_embedded(address, 0)) ^ 0xFFFF_FFFF) if address in _TEREDO else None


def is_public(address: Address) -> bool:
    """Whether this address is reached over the internet, and nowhere else."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_V4)
    if address in _MAPPED or address in _NAT64:
        return is_public(_embedded(address, 0))
    # What is left is public only inside the one block that is handed out, and not in a tunnel, whose relays are anybody's.
    # Loopback, private, link-local, site-local, multicast, IPv4-compatible and local NAT64 addresses are all outside of it.
    return address in _GLOBAL_V6 and not any(address in network for network in _NOT_PUBLIC_V6)


def is_metadata(address: Address) -> bool:
    """Whether a cloud answers here with the credentials of the machine that asks."""
    behind = inner(address)
    return _within(plain(address), _METADATA) or (behind is not None and _within(behind, _METADATA))


def is_allowed(address: Address, networks: Iterable[str]) -> bool:
    """Whether one of these networks, as a user named them, contains the address."""
    return any(_within(plain(address), (_network(network),)) for network in networks)


def single(address: Address) -> str:
    """The network that is this address alone, as `--allow-network` takes it."""
    address = plain(address)
    return f"{address}/{address.max_prefixlen}"


def _within(address: Address, networks: Iterable[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def _embedded(address: IPv6Address, shift: int) -> IPv4Address:
    return IPv4Address((int(address) >> shift) & 0xFFFF_FFFF)


@lru_cache(maxsize=1024)
def _network(text: str) -> Network:
    network = ip_network(text, strict=False)
    # Addresses are compared in their plain form, so a network of mapped addresses is brought to it as well.
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        return IPv4Network((_embedded(network.network_address, 0), network.prefixlen - 96))
    return network
