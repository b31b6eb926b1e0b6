"""The sockets of a server, taken before anything else is begun: a port that is in use must cost nothing."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address

from tarantella.domain.errors import Conflict, InvalidInput, TarantellaError

BACKLOG = 2_048


@contextmanager
def listening(host: str, port: int) -> Iterator[list[socket.socket]]:
    """Sockets at every address of this host, all with the same port, closed again in the end."""
    taken: list[socket.socket] = []
    try:
        for family, address in _addresses(host, port):
            port = port or (taken[0].getsockname()[1] if taken else 0)
            taken.append(_listen(family, (address, port)))
        yield taken
    finally:
        for each in taken:
            each.close()


def endpoints(sockets: list[socket.socket]) -> tuple[tuple[str, int], ...]:
    """Where they listen, as address and port."""
    return tuple(each.getsockname()[:2] for each in sockets)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server there."""
    return all(ip_address(address).is_loopback for _, address in _addresses(host, 0))


def url_of(host: str, port: int) -> str:
    """How a client on this machine calls a server there."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - listening everywhere includes here
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, str]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise InvalidInput(
            f"{host!r} is not an address of this machine.",
            field="host",
            remedy="Choose one with --host, as in 127.0.0.1.",
        ) from None
    return list(dict.fromkeys((family, str(where[0])) for family, _, _, _, where in found))


def _listen(family: socket.AddressFamily, where: tuple[str, int]) -> socket.socket:
    taken = socket.socket(family, socket.SOCK_STREAM)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            # The other family has a socket of its own, where it is wanted.
            taken.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        taken.bind(where)
        taken.listen(BACKLOG)
        taken.setblocking(False)
    except OSError as error:
        taken.close()
        raise _refused(where, error) from None
    return taken


def _refused(where: tuple[str, int], error: OSError) -> TarantellaError:
    address, port = where
    if error.errno == errno.EADDRINUSE:
        return Conflict(
            f"Port {port} at {address} is in use by another program.",
            remedy="Choose another with --port.",
            field="port",
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return InvalidInput(
            f"Port {port} is for administrators only.", field="port", remedy="Choose one above 1023 with --port."
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return InvalidInput(
            f"{address} is not an address of this machine.",
            field="host",
            remedy="Choose one with --host, as in 127.0.0.1.",
        )
    return InvalidInput(
        f"Nothing can listen at {address}, port {port}: {error.strerror}.",
        remedy="Choose others with --host and --port.",
    )
