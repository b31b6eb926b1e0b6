"""The guard checks one host and the client dials one: for every address that can be written they are the same."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from wreq import Proxy
from wreq.blocking import Client
from wreq.exceptions import BuilderError, ProxyConnectionError
from wreq.redirect import Policy

from tarantella.domain.url import Unfetchable, Url, resolve, stored
from tarantella.fetchers.contract import FetchError, Options, Request
from tarantella.fetchers.dns import Dns
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.http import HttpFetcher
from tests.site import Site
from tests.site.witness import Witness

SCHEMES = st.sampled_from(["http", "https", "HTTP", "hTTps", ""])
SLASHES = st.sampled_from(["://", ":", ":/", ":///", ":\\\\", ":/\\", "://\t", "//", "\\\\", ":\n//"])
USERINFO = st.sampled_from(
    ["", "", "", "me@", "me:pw@", "127.0.0.2\\@", "127.0.0.2/@", "a@b@", ":@", "%40@", "127.0.0.2#@"]
)
LABELS = st.one_of(
    st.sampled_from(
        [
            "example",
            "shop",
            "WWW",
            "bücher",
            "ＳＨＯＰ",
            "xn--bcher-kva",
            "faß",
            "☃",
            "a_b",
            "a-b",
            "-a",
            "1",
            "0x7f",
            "127",
            "localhost",
        ]
    ),
    st.text(max_size=6),
    st.text("abcABC019-_%~!$&'()*+,;=[]:", max_size=8),
)
DOTS = st.sampled_from([".", ".", ".", "。", "．", "｡", "%2e", ".."])
HOSTS = st.one_of(
    st.builds(lambda parts, dot, last: dot.join(parts) + last, st.lists(LABELS, min_size=1, max_size=4), DOTS, st.sampled_from(["", "", "."])),
    st.ip_addresses(v=4).map(str),
    st.ip_addresses(v=6).map(lambda address: f"[{address}]"),
    st.integers(0, 2**33).map(str),
    st.integers(0, 2**32).map(hex),
    st.integers(0, 2**32).map(lambda number: f"0{number:o}"),
)  # fmt: skip
PORTS = st.one_of(
    st.just(""),
    st.just(":"),
    st.integers(-1, 70_000).map(lambda port: f":{port}"),
    st.sampled_from([":080", ":80", ":443", ":８０"]),
)
PATHS = st.one_of(
    st.sampled_from(["", "/", "/a/../b", "\\x", "?q", "#f", "/@127.0.0.2", "?@127.0.0.2/"]),
    st.text(max_size=12).map(lambda text: f"/{text}"),
)
ADDRESSES = st.builds(lambda *parts: "".join(parts), SCHEMES, SLASHES, USERINFO, HOSTS, PORTS, PATHS)
QUICK = settings(max_examples=300, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def witness() -> Iterator[Witness]:
    with Witness() as witness:
        yield witness


@pytest.fixture(scope="module")
def client(witness: Witness) -> Client:
    return Client(proxies=[Proxy.all(witness.url)], redirect=Policy.none())


def parsed(reference: str, base: str | None = None) -> Url | None:
    try:
        return resolve(reference, base)
    except Unfetchable:
        return None


def dialled(client: Client, witness: Witness, url: Url) -> tuple[str, int] | None:
    """Whom the client would have dialled for this address; None if it refused to."""
    witness.take()
    try:
        client.get(url.href)
    except BuilderError:
        assert witness.take() == []
        return None
    except ProxyConnectionError:
        pass  # the witness tunnels nowhere
    [target] = witness.take()
    if url.scheme == "https":
        host, _, port = target.rpartition(":")
        return host, int(port)
    assert target == url.href
    seen = stored(target)
    return seen.host, seen.port


@QUICK
@given(ADDRESSES)
@example("http://127.0.0.1\\@example.com/")
@example("http://example.com#@127.0.0.1/")
@example("http://example.com\t@127.0.0.1/")
@example("http://127.0.0.1:80@example.com/")
@example("http://example.com:80#@127.0.0.1:81/")
@example("http://[::ffff:127.0.0.1]:8080/")
@example("http://[::1%25eth0]/")
@example("http://0x7f.1:0x50/")
@example("https://example.com.:443/")
@example("http://a;b/")
@example("http://" + "a" * 300 + ".test/")
def test_the_client_dials_the_host_that_the_guard_is_asked_about(client: Client, witness: Witness, text: str) -> None:
    if (url := parsed(text)) is not None:
        assert dialled(client, witness, url) in ((url.host, url.port), None)


@QUICK
@given(ADDRESSES, st.sampled_from(["http://example.com/a/b?c", "https://example.com:8443/", "http://127.0.0.1/x"]))
def test_a_link_leads_the_client_where_it_leads_the_guard(
    client: Client, witness: Witness, text: str, base: str
) -> None:
    if (url := parsed(text, base)) is not None:
        assert dialled(client, witness, url) in ((url.host, url.port), None)


@QUICK
@given(st.text(), st.text())
def test_no_path_or_query_changes_the_host(client: Client, witness: Witness, path: str, query: str) -> None:
    url = parsed(f"http://example.com/{path}?{query}")
    if url is not None:
        assert url.host == "example.com"
        assert dialled(client, witness, url) == ("example.com", 80)


@settings(max_examples=60)
@given(HOSTS)
@example("bücher.test")
@example("LOCALHOST")
@example("localhost.")
def test_a_name_is_looked_up_once_by_the_guard_and_never_by_the_client(host: str) -> None:
    """The client dials what the guard was told, though this machine knows better, or nothing at all."""
    url = parsed(f"http://{host}:1/")
    if url is None or url.port != 1 or url.host[0] in "[0123456789":
        return
    asked: list[str] = []

    def lookup(name: str) -> Sequence[str]:
        asked.append(name)
        return ["127.0.0.7"]

    async def fetch() -> None:
        async with Site() as site:
            options = Options("Test/1", allow_networks=("127.0.0.7/32",), total_timeout=5.0)
            request = Request(resolve(f"http://{host}:{site.port}/ok"), options)
            try:
                response = await HttpFetcher(Guard(dns=Dns(lookup))).fetch(request)
            except FetchError as error:
                # Some letters are allowed in a host by browsers and not by the client.
                assert (error.failure, error.detail) == ("unknown", "BuilderError")
                assert site.hits == []
            else:
                assert response.status == 200
                assert [hit.hostname for hit in site.hits] == [url.host]
        assert asked == [url.host]

    asyncio.run(fetch())
