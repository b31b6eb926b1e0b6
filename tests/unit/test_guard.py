"""Nothing dials an address that the guard has not allowed."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tarantella.domain.failure import Failure
from tarantella.domain.url import Unfetchable, Url, resolve
from tarantella.fetchers.addresses import Address, is_public
from tarantella.fetchers.contract import FetchError
from tarantella.fetchers.dns import Dns
from tarantella.fetchers.guard import Guard

NOT_PUBLIC = (
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:169.254.169.254]",
    "[::127.0.0.1]",
    "[::8.8.8.8]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b:1::10.0.0.1]",
    "[2002:7f00:1::]",
    "[2002:a00:1::1]",
    "[2002:808:808::1]",
    "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
    "[2001:2::1]",
    "[2001:10::1]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[5f00::1]",
    "[100::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
)
PUBLIC = (
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.32.0.1",
    "192.0.1.1",
    "198.20.0.1",
    "223.255.255.255",
    "[2606:4700::1111]",
    "[2001:4860:4860::8888]",
    "[::ffff:8.8.8.8]",
    "[64:ff9b::8.8.8.8]",
)


def at(host: str, port: int = 80) -> Url:
    return resolve(f"http://{host}:{port}/")


def names(**answers: Sequence[str]) -> Dns:
    """A resolver that knows these names (an underscore stands for a dot) and no others."""

    def look_up(host: str) -> Sequence[str]:
        try:
            return answers[host.replace(".", "_")]
        except KeyError:
            raise socket.gaierror("unknown name") from None

    return Dns(look_up)


def ask(guard: Guard, url: Url, *networks: str) -> tuple[Address, ...]:
    return asyncio.run(guard.addresses(url, networks))


def refusal(guard: Guard, url: Url, *networks: str) -> FetchError:
    with pytest.raises(FetchError) as caught:
        ask(guard, url, *networks)
    return caught.value


@pytest.mark.parametrize("host", NOT_PUBLIC)
def test_an_address_that_is_not_public_is_denied(host: str) -> None:
    error = refusal(Guard(), at(host))
    assert (error.failure, error.detail) == (Failure.DENIED, "address")


@pytest.mark.parametrize("host", PUBLIC)
def test_a_public_address_is_given_back(host: str) -> None:
    assert ask(Guard(), at(host)) == (ip_address(at(host).host.strip("[]")),)


@pytest.mark.parametrize("host", NOT_PUBLIC)
def test_a_denial_names_the_option_that_lifts_it_and_nothing_more(host: str) -> None:
    option = re.search(r"--allow-network (\S+)$", refusal(Guard(), at(host)).message)
    assert option is not None
    assert ask(Guard(), at(host), option[1])
    assert option[1].endswith(("/32", "/128"))


def test_the_option_for_loopback_is_what_one_expects() -> None:
    assert refusal(Guard(), at("127.0.0.1")).message.endswith("--allow-network 127.0.0.1/32")
    assert refusal(Guard(), at("[::ffff:127.0.0.1]")).message.endswith("--allow-network 127.0.0.1/32")


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "2130706433", "0177.0.0.1", "１２７.０.０.１", "127.0.0.1."])
def test_loopback_is_recognised_however_it_is_written(host: str) -> None:
    assert refusal(Guard(), at(host)).failure is Failure.DENIED


@pytest.mark.parametrize("answer", ["fe80::1%eth0", "::1%lo", "fd00::5%2", "::ffff:10.0.0.1%1"])
def test_a_zone_does_not_make_an_address_another(answer: str) -> None:
    guard = Guard(refused_endpoints={("::1", 8000)}, dns=names(zoned_test=[answer]))
    error = refusal(guard, at("zoned.test"))
    assert (error.failure, "%" in error.message.partition("--allow-network")[2]) == (Failure.DENIED, False)
    assert ask(guard, at("zoned.test"), "::/0", "0.0.0.0/0")
    if answer.startswith("::1%"):
        assert refusal(guard, at("zoned.test", 8000), "::/0").detail == "control_plane"


@pytest.mark.parametrize("host", ["[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1%lo]"])
def test_an_address_with_a_zone_is_no_web_address(host: str) -> None:
    with pytest.raises(Unfetchable):
        at(host)


def test_what_is_allowed_by_its_ipv4_network_is_not_allowed_in_a_tunnel() -> None:
    for host in ("[64:ff9b::10.0.0.1]", "[2002:a00:1::]", "[2001:0:4136:e378:8000:63bf:f5ff:fffe]"):
        assert refusal(Guard(), at(host), "10.0.0.0/8").failure is Failure.DENIED
    assert ask(Guard(), at("[::ffff:10.0.0.1]"), "10.0.0.0/8")


@given(st.ip_addresses(v=4))
def test_a_mapped_address_is_judged_like_the_one_inside(address: IPv4Address) -> None:
    assert is_public(IPv6Address(f"::ffff:{address}")) == is_public(address)


@given(st.ip_addresses())
@example(IPv6Address("2002:100::"))
def test_nothing_is_public_that_python_calls_private(address: IPv4Address | IPv6Address) -> None:
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return
    if address.is_private or address.is_multicast or address.is_loopback or address.is_link_local:
        assert not is_public(address)


def test_one_private_answer_among_public_ones_denies_the_name() -> None:
    guard = Guard(dns=names(mixed_test=["8.8.8.8", "10.0.0.7"]))
    error = refusal(guard, at("mixed.test"))
    assert error.failure is Failure.DENIED
    assert error.message == (
        "mixed.test is at 10.0.0.7, which is not a public address. "
        "To fetch it all the same: --allow-network 10.0.0.7/32"
    )
    assert ask(guard, at("mixed.test"), "10.0.0.0/8") == (ip_address("8.8.8.8"), ip_address("10.0.0.7"))


def test_an_allowed_network_does_not_open_another() -> None:
    assert refusal(Guard(), at("10.0.0.1"), "127.0.0.0/8", "fd00::/8").failure is Failure.DENIED


def test_a_name_without_addresses_is_a_network_failure() -> None:
    for dns in (names(), names(empty_test=[])):
        error = refusal(Guard(dns=dns), at("empty.test"))
        assert (error.failure, error.detail) == (Failure.NETWORK, "dns")


def test_a_name_that_no_resolver_can_take_is_a_network_failure() -> None:
    url = Url("http://x/", "http", "a" * 70 + ".test", 80)
    assert refusal(Guard(), url).detail == "dns"


def test_a_resolver_that_hangs_is_a_timeout_and_does_not_hold_anybody_up() -> None:
    hang = threading.Event()

    def look_up(host: str) -> Sequence[str]:
        hang.wait(10)
        return ["8.8.8.8"]

    error = refusal(Guard(dns=Dns(look_up), dns_timeout=0.05), at("slow.test"))
    hang.set()
    assert (error.failure, error.detail) == (Failure.TIMEOUT, "dns")


def test_many_who_ask_at_once_cost_one_look_up_and_the_answer_is_kept() -> None:
    asked: list[str] = []

    def look_up(host: str) -> Sequence[str]:
        asked.append(host)
        return ["8.8.8.8"]

    async def story() -> None:
        guard = Guard(dns=Dns(look_up))
        await asyncio.gather(*(guard.addresses(at("busy.test", port)) for port in range(1000, 1050)))
        await guard.addresses(at("busy.test"))

    asyncio.run(story())
    assert asked == ["busy.test"]


def test_an_old_answer_is_asked_for_again_and_the_new_one_checked() -> None:
    answers = iter((["8.8.8.8"], ["127.0.0.1"]))

    async def story() -> None:
        guard = Guard(dns=Dns(lambda host: next(answers), ttl=0.0))
        assert await guard.addresses(at("rebound.test")) == (ip_address("8.8.8.8"),)
        with pytest.raises(FetchError):
            await guard.addresses(at("rebound.test"))

    asyncio.run(story())


def test_one_who_gives_up_does_not_take_the_answer_from_the_others() -> None:
    asked, answer = threading.Event(), threading.Event()

    def look_up(host: str) -> Sequence[str]:
        asked.set()
        answer.wait(10)
        return ["8.8.8.8"]

    async def story() -> None:
        guard = Guard(dns=Dns(look_up))
        first, second = (asyncio.create_task(guard.addresses(at("shared.test"))) for _ in range(2))
        await asyncio.to_thread(asked.wait, 10)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        answer.set()
        assert await second == (ip_address("8.8.8.8"),)

    asyncio.run(story())


def test_the_memory_of_names_is_bounded() -> None:
    asked: list[str] = []

    def look_up(host: str) -> Sequence[str]:
        asked.append(host)
        return ["8.8.8.8"]

    async def story() -> None:
        guard = Guard(dns=Dns(look_up, size=2))
        for host in ("a.test", "b.test", "a.test", "c.test", "a.test", "b.test"):
            await guard.addresses(at(host))

    asyncio.run(story())
    assert asked == ["a.test", "b.test", "c.test", "b.test"]


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "[::ffff:127.0.0.1]", "[::]"])
def test_our_own_port_is_refused_even_where_its_network_is_allowed(host: str) -> None:
    guard = Guard(refused_endpoints={("127.0.0.1", 8000)})
    error = refusal(guard, at(host, 8000), "0.0.0.0/0", "::/0")
    assert (error.failure, error.detail) == (Failure.DENIED, "control_plane")
    assert ask(guard, at(host, 8001), "0.0.0.0/0", "::/0")


def test_a_control_plane_on_all_addresses_is_refused_on_each_of_ours_and_only_there() -> None:
    guard = Guard(refused_endpoints={("0.0.0.0", 8000)})
    assert refusal(guard, at("127.0.0.2", 8000), "127.0.0.0/8").detail == "control_plane"
    assert ask(guard, at("8.8.8.8", 8000))


def story_of(guard: Guard, method: Callable[..., Awaitable[object]], host: str) -> object:
    async def tell() -> object:
        return await method(at(host))

    return asyncio.run(tell())


def test_a_proxy_may_be_private_but_no_metadata_service_and_not_ourselves() -> None:
    guard = Guard(refused_endpoints={("127.0.0.1", 80)})
    assert story_of(guard, guard.proxy_addresses, "10.0.0.1") == (ip_address("10.0.0.1"),)
    teredo = "[2001:0:4136:e378:8000:63bf:5601:5601]"
    tunnels = ("[::ffff:169.254.169.254]", "[64:ff9b::169.254.169.254]", "[2002:a9fe:a9fe::1]", teredo)
    for host in ("169.254.169.254", *tunnels, "[fd00:ec2::254]", "127.0.0.1"):
        with pytest.raises(FetchError) as caught:
            story_of(guard, guard.proxy_addresses, host)
        assert caught.value.failure is Failure.DENIED


def test_a_proxy_that_somebody_named_from_afar_is_no_more_than_a_target() -> None:
    guard = Guard(dns=names(inside_test=["192.168.0.1"], outside_test=["8.8.8.8"]))
    afar = partial(guard.proxy_addresses, near=False)
    for host in ("127.0.0.1", "10.0.0.1", "inside.test", "169.254.169.254"):
        with pytest.raises(FetchError) as caught:
            story_of(guard, afar, host)
        assert caught.value.failure is Failure.DENIED
    assert story_of(guard, afar, "outside.test")
    assert story_of(guard, partial(afar, allow_networks=("10.0.0.0/8",)), "10.0.0.1")


def test_behind_a_proxy_private_addresses_stay_denied_and_unknown_names_are_left_to_it() -> None:
    guard = Guard(dns=names(inside_test=["192.168.0.1"]))
    for host in ("127.0.0.1", "inside.test"):
        with pytest.raises(FetchError) as caught:
            story_of(guard, guard.check_by_name, host)
        assert caught.value.failure is Failure.DENIED
    story_of(guard, guard.check_by_name, "only-the-proxy-knows.test")
