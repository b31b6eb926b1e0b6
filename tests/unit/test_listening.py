"""The sockets of a server."""

from __future__ import annotations

import socket

import pytest

from tarantella.cli.listening import endpoints, is_loopback, listening, url_of
from tarantella.domain.errors import Conflict, InvalidInput


def test_port_0_is_one_that_is_free_and_known() -> None:
    with listening("127.0.0.1", 0) as sockets:
        [(address, port)] = endpoints(sockets)
        assert (address, port > 0) == ("127.0.0.1", True)
        with socket.create_connection((address, port), 5):
            pass


def test_a_port_that_is_in_use_is_refused_with_its_number() -> None:
    with listening("127.0.0.1", 0) as sockets:
        port = endpoints(sockets)[0][1]
        with pytest.raises(Conflict, match=f"Port {port} at 127.0.0.1 is in use"), listening("127.0.0.1", port):
            pass


@pytest.mark.parametrize("host", ["192.0.2.1", "nowhere.invalid", "127.0.0.1 ", "a b"])
def test_an_address_of_somebody_else_is_refused(host: str) -> None:
    with pytest.raises(InvalidInput, match="not an address of this machine"), listening(host, 0):
        pass


@pytest.mark.parametrize(
    ("host", "local"), [("127.0.0.1", True), ("127.0.0.2", True), ("0.0.0.0", False), ("::", False)]
)
def test_only_loopback_is_local(host: str, local: bool) -> None:
    assert is_loopback(host) is local


@pytest.mark.parametrize(
    ("host", "url"),
    [("127.0.0.1", "http://127.0.0.1:80"), ("::1", "http://[::1]:80"), ("0.0.0.0", "http://127.0.0.1:80")],
)
def test_a_server_is_called_by_an_address_that_works_here(host: str, url: str) -> None:
    assert url_of(host, 80) == url
