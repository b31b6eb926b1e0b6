"""Whatever a server sends: a failure with a name, in bounded time and memory."""

from __future__ import annotations

import asyncio
import gzip
import os
import resource
import socket
import threading
import time
import zlib

import pytest
from wreq import exceptions

from tarantella.domain.failure import Failure
from tarantella.domain.struct import replace
from tarantella.domain.url import resolve
from tarantella.fetchers.contract import FetchError, Options, Request, Response
from tarantella.fetchers.dns import Dns
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.http import HttpFetcher
from tarantella.fetchers.translation import translated
from tests.integration.bounds import MEGABYTE, growing_by_at_most
from tests.site import Call, Site

OPTIONS = Options("Test/1", allow_networks=("127.0.0.0/8",), total_timeout=5.0)
HASTY = replace(OPTIONS, connect_timeout=0.3, total_timeout=0.3, max_body=2**40)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def attempt(path: str, options: Options = OPTIONS) -> Response | FetchError:
    async def run() -> Response | FetchError:
        async with Site() as site:
            return await outcome(site.url_for(path), options)

    return asyncio.run(run())


async def outcome(href: str, options: Options = OPTIONS, guard: Guard | None = None) -> Response | FetchError:
    fetcher = HttpFetcher(guard or Guard())
    try:
        return await fetcher.fetch(Request(resolve(href), options))
    except FetchError as error:
        return error
    finally:
        await fetcher.close()


def on_wire(answer: bytes, options: Options = OPTIONS) -> Response | FetchError:
    """What becomes of exactly these bytes."""

    async def run() -> Response | FetchError:
        async def handler(call: Call) -> None:
            await call.send(answer)

        async with Site() as site:
            site.routes["/wire"] = handler
            return await outcome(site.url_for("/wire"), options)

    return asyncio.run(run())


def told(result: Response | FetchError) -> tuple[Failure, str]:
    assert isinstance(result, FetchError), result
    return result.failure, result.detail


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/never", "total"),
        ("/drip-headers?every=0.02", "total"),
        ("/endless-1xx", "total"),
        ("/slow?s=30", "total"),
        ("/drip-body?every=0.02", "read"),
    ],
)
def test_a_server_that_takes_its_time_is_a_timeout(path: str, detail: str) -> None:
    began = time.monotonic()
    assert told(attempt(path, HASTY)) == (Failure.TIMEOUT, detail)
    assert 0.25 < time.monotonic() - began < 15


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/reset-in-body", "reset"),
        ("/short-body", "truncated"),
        ("/conflicting-lengths", "protocol"),
        ("/garbage", "protocol"),
        ("/many-headers?n=10000", "headers"),
        ("/many-headers?n=200", "headers"),
        ("/long-header?kb=1024", "headers"),
        ("/bad-gzip", "decode"),
    ],
)
def test_a_broken_server_is_a_network_failure_with_a_detail(path: str, detail: str) -> None:
    assert told(attempt(path)) == (Failure.NETWORK, detail)


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        (b"", "closed"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, "closed"),
        (b"<html>no head</html>", "protocol"),
        (b"HTTP/1.1 9999 OK\r\n\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "protocol"),
        (CHUNKED + b"zz\r\n", "protocol"),
        (CHUNKED + b"5\r\nabc", "truncated"),
        (CHUNKED + b"3\r\nabc\r\n", "truncated"),
        (CHUNKED + b"1;" + b"x" * 200_000, "protocol"),
        (
            CHUNKED + b"0\r\n" + b"".join(b"X-%d: y\r\n" % number for number in range(5000)) + b"\r\n",
            "protocol",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 100\r\n\r\n\x1f\x8b\x08\x00",
            "truncated",
        ),
    ],
)
def test_these_bytes_are_a_network_failure(answer: bytes, detail: str) -> None:
    assert told(on_wire(answer)) == (Failure.NETWORK, detail)


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", b"hi"),
        (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", b"until the end"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", b"hi"),
        (CHUNKED.replace(b"OK", b"OK\r\nContent-Length: 9") + b"2\r\nhi\r\n0\r\nA: b\r\n\r\n", b"hi"),
        (b"HTTP/1.1 200 \r\nX: \xe9\r\nContent-Length: 2\r\n\r\nhi", b"hi"),
        (
            b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            b"hi",
        ),
    ],
)
def test_these_odd_bytes_are_a_page(answer: bytes, body: bytes) -> None:
    result = on_wire(answer)
    assert isinstance(result, Response), result
    assert (result.status, result.body) == (200, body)


def test_a_header_that_is_not_ascii_does_not_break_the_page() -> None:
    result = on_wire(b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\xe9\r\nContent-Length: 0\r\n\r\n")
    assert isinstance(result, Response)
    assert result.headers["content-type"] == "text/html; charset=\xe9"


@pytest.mark.parametrize("path", ["/huge?mb=200", "/endless", "/gzip-bomb?mb=200"])
def test_a_body_without_end_is_too_large_at_the_limit(path: str) -> None:
    options = replace(OPTIONS, max_decoded=4 * MEGABYTE, total_timeout=30.0)
    with growing_by_at_most(40):
        assert told(attempt(path, options)) == (Failure.TOO_LARGE, "decoded")


def test_bytes_that_unpack_to_nothing_are_counted_as_they_come() -> None:
    packer = zlib.compressobj(wbits=31)
    nothing = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH) * 1_000_000
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n"
    assert told(on_wire(head + nothing, replace(OPTIONS, max_body=MEGABYTE))) == (Failure.TOO_LARGE, "body")


@pytest.mark.parametrize("encoding", [b"identity", b"gzip"])
def test_a_body_that_nobody_announced_is_as_large_as_one_that_was_at_most(encoding: bytes) -> None:
    body = os.urandom(300_000)
    packed = gzip.compress(body) if encoding == b"gzip" else body
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nConnection: close\r\n\r\n" % encoding
    page = on_wire(head + packed, replace(OPTIONS, max_body=len(packed)))
    assert isinstance(page, Response)
    assert page.body == body
    refused = on_wire(head + packed, replace(OPTIONS, max_body=len(packed) - 1))
    assert told(refused) == (Failure.TOO_LARGE, "body")


def test_fifty_thousand_empty_archives_in_a_row_are_not_all_opened() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n"
    began = time.process_time()
    assert told(on_wire(head + gzip.compress(b"") * 50_000)) == (Failure.NETWORK, "decode")
    assert time.process_time() - began < 3


def test_an_announced_size_is_refused_before_the_body_is_read() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"
    assert told(on_wire(answer)) == (Failure.TOO_LARGE, "body")


def test_a_bomb_in_an_odd_encoding_is_never_unpacked() -> None:
    bomb = gzip.compress(gzip.compress(b"\0" * (100 * MEGABYTE)))
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: %d\r\n\r\n%s" % (
        len(bomb),
        bomb,
    )
    with growing_by_at_most(40):
        assert told(on_wire(answer, replace(OPTIONS, max_decoded=MEGABYTE))) == (Failure.TOO_LARGE, "decoded")


def test_a_hundred_thousand_tiny_chunks_are_a_page_and_others_are_served_meanwhile() -> None:
    async def run() -> None:
        async with Site() as site:
            fetcher = HttpFetcher(Guard())
            options = replace(OPTIONS, total_timeout=60.0)
            chunks = asyncio.create_task(
                fetcher.fetch(Request(resolve(site.url_for("/tiny-chunks?n=100000")), options))
            )
            worst = 0.0
            while not chunks.done():
                began = time.monotonic()
                await fetcher.fetch(Request(resolve(site.url_for("/ok")), options))
                worst = max(worst, time.monotonic() - began)
            assert len((await chunks).body) == 100_000
            assert worst < 2.0

    asyncio.run(run())


def test_a_host_that_accepts_no_connections_is_a_connect_timeout() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        # A full queue drops what comes next without a word, as a firewall does.
        queue = [socket.socket() for _ in range(4)]
        for waiting in queue:
            waiting.setblocking(False)
            waiting.connect_ex(address)
        try:
            options = replace(OPTIONS, connect_timeout=0.3)
            result = asyncio.run(outcome(f"http://127.0.0.1:{address[1]}/", options))
            assert told(result) == (Failure.TIMEOUT, "connect")
        finally:
            for waiting in queue:
                waiting.close()


def test_a_slow_resolver_is_stopped_by_the_total_time() -> None:
    given_up = threading.Event()

    def look_up(host: str) -> list[str]:
        assert given_up.wait(30), "somebody still waits for this"
        return ["127.0.0.1"]

    async def fetch() -> Response | FetchError:
        try:
            return await outcome("http://slow.test/", HASTY, Guard(dns=Dns(look_up)))
        finally:
            given_up.set()

    assert told(asyncio.run(fetch())) == (Failure.TIMEOUT, "dns")


@pytest.mark.parametrize("words", ["source: TimedOut", "source:%20TimedOut", "SSL routines", "ConnectionRefused"])
def test_words_in_an_address_do_not_decide_what_a_failure_is_called(words: str) -> None:
    assert told(attempt(f"/garbage?{words}")) == (Failure.NETWORK, "protocol")


@pytest.mark.parametrize("name", exceptions.__all__)
def test_every_exception_of_the_client_has_a_translation(name: str) -> None:
    error = getattr(exceptions, name)("is_x error: wreq::Error { uri: http://h/?token=s3cret, source: Something }")
    url = resolve("http://example.com/?token=s3cret")
    for proxied, proxy_answers in ((False, False), (True, False), (True, True)):
        failure = translated(error, url, proxied=proxied, proxy_answers=proxy_answers)
        assert isinstance(failure, FetchError)
        assert failure.failure in (Failure.NETWORK, Failure.TIMEOUT, Failure.PROXY, Failure.UNKNOWN)
        assert "s3cret" not in failure.message


@pytest.mark.parametrize(
    "error", [ValueError("bad"), RuntimeError("worse"), OSError(5, "io"), KeyError("k"), TimeoutError()]
)
def test_an_exception_that_nobody_thought_of_does_not_escape(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with Site() as site:
            fetcher = HttpFetcher(Guard())

            async def broken(*args: object, **kwargs: object) -> None:
                raise error

            monkeypatch.setattr("tarantella.fetchers.http._ask_with_more", broken)
            with pytest.raises(FetchError) as caught:
                await fetcher.fetch(Request(resolve(site.url_for("/ok")), OPTIONS))
            expected = Failure.TIMEOUT if isinstance(error, TimeoutError) else Failure.UNKNOWN
            assert caught.value.failure is expected
            assert caught.value.__cause__ is None
            assert caught.value.__context__ is None

    asyncio.run(run())


def test_a_header_that_can_t_be_sent_is_a_failure_and_no_injection() -> None:
    options = replace(OPTIONS, headers={"X": "a\r\nEvil: yes"}, trusted_servers=frozenset({"127.0.0.1"}))
    assert told(asyncio.run(outcome("http://127.0.0.1/", options)))[0] is Failure.UNKNOWN


def test_a_machine_without_file_descriptors_is_told_as_such_and_recovers() -> None:
    async def run() -> None:
        async with Site() as site:
            fetcher = HttpFetcher(Guard())
            warm, page = (Request(resolve(site.url_for("/ok", host)), OPTIONS) for host in ("127.0.0.2", "127.0.0.3"))
            await fetcher.fetch(warm)
            taken = []
            try:
                with pytest.raises(OSError, match="Too many open files"):
                    while True:
                        taken.append(os.open(os.devnull, os.O_RDONLY))
                with pytest.raises(FetchError) as caught:
                    await fetcher.fetch(page)
            finally:
                for descriptor in taken:
                    os.close(descriptor)
            assert (caught.value.failure, caught.value.detail) == (Failure.NETWORK, "open_files")
            assert (await fetcher.fetch(page)).status == 200

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
    try:
        asyncio.run(run())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
