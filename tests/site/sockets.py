"""Several loopback addresses on one port, so that one process can play several hosts."""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack
from ipaddress import ip_address

ADDRESSES = tuple(f"127.0.0.{number}" for number in range(1, 10))
BACKLOG = 1024
PORT_TRIES = 20


def listen(host: str, port: int) -> list[socket.socket]:
    """Bind the host and its sisters to one port; port 0 looks for one that is free on all of them."""
    if not _is_loopback(host):
        raise ValueError(f"The test site serves loopback only: {host!r} must be an address such as 127.0.0.1.")
    addresses = dict.fromkeys((host, *ADDRESSES))
    for _ in range(PORT_TRIES):
        try:
            return _bind_all(addresses, port)
        except OSError as error:
            if port or error.errno != errno.EADDRINUSE:
                raise
    raise OSError(errno.EADDRINUSE, f"no port is free on all of {', '.join(addresses)}")


def _bind_all(addresses: dict[str, None], port: int) -> list[socket.socket]:
    with ExitStack() as on_failure:
        bound: list[socket.socket] = []
        for address in addresses:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            listener = on_failure.enter_context(socket.socket(family))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setblocking(False)
            try:
                listener.bind((address, port))
            except OSError as error:
                # Some systems have only 127.0.0.1; the first address must work, the others are a bonus.
                if bound and error.errno == errno.EADDRNOTAVAIL:
                    continue
                raise
            listener.listen(BACKLOG)
            port = listener.getsockname()[1]
            bound.append(listener)
        on_failure.pop_all()
        return bound


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
