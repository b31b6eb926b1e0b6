"""The test site does what its routes say, so that tests which rely on it mean something."""

from __future__ import annotations

import asyncio
import gzip
import re
import subprocess
import sys
import time
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from tests.site import Call, Proxy, Reply, Request, Site, tree_path, tree_paths
from tests.site.client import exchange, get, parse
from tests.site.documents import sample

ROOT = Path(__file__).parents[2]


def on_site(story: Callable[[Site], Awaitable[None]]) -> None:
    """Run a story against a fresh site."""

    async def tell() -> None:
        async with Site() as site:
            await story(site)

    asyncio.run(tell())


async def raw(site: Site, path: str) -> bytes:
    return await exchange(site.url, f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())


def hrefs(text: str) -> list[str]:
    return [href.replace("&amp;", "&") for href in re.findall(r'href="([^"]*)"', text)]


@pytest.mark.parametrize("status", [401, 403, 404, 410, 429, 500, 503])
def test_a_status_page_answers_with_its_status_every_time(status: int) -> None:
    async def story(site: Site) -> None:
        assert [(await get(f"{site.url}/{status}")).status for _ in range(3)] == [status] * 3

    on_site(story)


def test_retry_after_is_sent_as_given_and_times_ends_it() -> None:
    async def story(site: Site) -> None:
        answers = [await get(f"{site.url}/429?after=soon&times=2") for _ in range(3)]
        assert [answer.status for answer in answers] == [429, 429, 200]
        assert [answer.headers.get("retry-after") for answer in answers] == ["soon", "soon", None]

    on_site(story)


def test_flaky_counts_each_key_apart() -> None:
    async def story(site: Site) -> None:
        for key in ("a", "b"):
            answers = [await get(f"{site.url}/flaky?n=2&code=502&key={key}") for _ in range(3)]
            assert [answer.status for answer in answers] == [502, 502, 200]

    on_site(story)


def test_every_address_of_the_tree_is_reached_by_its_links() -> None:
    async def story(site: Site) -> None:
        found, waiting = set(), [tree_path(3, 2, delay_ms=1)]
        while waiting:
            path = waiting.pop()
            found.add(path)
            waiting += hrefs((await get(site.url + path)).text)
        assert found == set(tree_paths(3, 2, delay_ms=1))
        assert len(found) == 1 + 2 + 4 + 8
        assert (await get(f"{site.url}/tree?at=0.2&depth=3&fan=2")).status == 404

    on_site(story)


def test_lists_and_links_link_to_what_was_asked() -> None:
    async def story(site: Site) -> None:
        items = hrefs((await get(f"{site.url}/list?n=60")).text)
        assert items == [f"/item/{number}" for number in range(60)]
        assert (await get(site.url + items[7])).text.count("Item 7") == 2
        odd = ["/a?b=1&c=2", "javascript:void(0)", "//other.test/x", "../up"]
        assert hrefs((await get(f"{site.url}/links?hrefs={quote('|'.join(odd))}")).text) == odd
        assert len(hrefs((await get(f"{site.url}/many-links")).text)) == 50_000

    on_site(story)


def test_the_shell_of_the_single_page_app_hides_its_root_late() -> None:
    async def story(site: Site) -> None:
        body = (await get(f"{site.url}/spa")).text
        assert body.index('<div id="root"></div>') > 5_000
        assert "<script" in body

    on_site(story)


def test_redirects_chain_and_loop() -> None:
    async def story(site: Site) -> None:
        answer = await get(f"{site.url}/redirect?to=http%3A%2F%2Fother.test%2Fx&code=308")
        assert (answer.status, answer.headers["location"]) == (308, "http://other.test/x")
        path, hops = "/redirect-chain?n=20", 0
        while (answer := await get(site.url + path)).status == 302:
            path, hops = answer.headers["location"], hops + 1
        assert (answer.status, hops) == (200, 20)
        there = (await get(f"{site.url}/redirect-loop")).headers["location"]
        assert (await get(site.url + there)).headers["location"] == "/redirect-loop"
        assert 'content="0; url=/x"' in (await get(f"{site.url}/meta-refresh?to=/x")).text

    on_site(story)


def test_robots_can_be_a_text_a_status_or_a_function() -> None:
    async def slowly(request: Request) -> str:
        await asyncio.sleep(0)
        return f"# for {request.host}"

    async def story(site: Site) -> None:
        url = f"{site.url}/robots.txt"
        assert (await get(url)).status == 404
        site.robots = "User-agent: *\nDisallow: /\n"
        assert (await get(url)).text == "User-agent: *\nDisallow: /\n"
        site.robots = 503
        assert (await get(url)).status == 503
        site.robots = lambda _: Reply(301, headers=(("Location", "/elsewhere"),))
        assert (await get(url)).headers["location"] == "/elsewhere"
        site.robots = slowly
        assert (await get(url, host="a.test")).text == "# for a.test"

    on_site(story)


@pytest.mark.parametrize("encoding", ["windows-1251", "koi8-r", "shift_jis", "iso-8859-1", "utf-16", "utf-8"])
def test_charsets_are_written_as_asked_and_declared_where_asked(encoding: str) -> None:
    async def story(site: Site) -> None:
        answers = {
            where: await get(f"{site.url}/charset?enc={encoding}&declared={where}")
            for where in ("header", "meta", "none")
        }
        for where, answer in answers.items():
            assert sample(encoding) in answer.body.decode(encoding)
            assert (f"charset={encoding}" in answer.headers["content-type"]) == (where == "header")
            assert (f'charset="{encoding}"' in answer.body.decode(encoding)) == (where == "meta")

    on_site(story)


def test_documents_have_their_types() -> None:
    async def story(site: Site) -> None:
        assert (await get(f"{site.url}/json")).json()["ok"] is True
        assert (await get(f"{site.url}/pdf")).body.startswith(b"%PDF-")
        assert (await get(f"{site.url}/binary?as=text/html")).headers["content-type"] == "text/html"
        assert b"Squeezed" in gzip.decompress((await get(f"{site.url}/gzip")).body)
        bad = await get(f"{site.url}/bad-gzip")
        assert bad.headers["content-encoding"] == "gzip"
        with pytest.raises(gzip.BadGzipFile):
            gzip.decompress(bad.body)
        fields = (await get(f"{site.url}/fields")).text
        assert (fields.count('class="price"'), fields.count('class="tag"')) == (2, 3)
        assert (await get(f"{site.url}/deep?n=1000")).text.count("<div>") == 1000

    on_site(story)


def test_a_gzip_bomb_is_small_on_the_wire_and_large_when_opened() -> None:
    async def story(site: Site) -> None:
        answer = await get(f"{site.url}/gzip-bomb?mb=20")
        assert len(answer.body) < 100_000
        assert len(zlib.decompress(answer.body, 16 + zlib.MAX_WBITS)) == 20 * 1024 * 1024
        assert len((await get(f"{site.url}/huge?mb=3")).body) >= 3 * 1024 * 1024
        assert (await get(f"{site.url}/tiny-chunks?n=2500")).body == b"x" * 2500

    on_site(story)


def test_broken_answers_are_broken_in_the_way_they_say() -> None:
    async def story(site: Site) -> None:
        short = parse(await raw(site, "/short-body"))
        assert int(short.headers["content-length"]) > len(short.body) == 5000
        assert not (await raw(site, "/garbage")).startswith(b"HTTP/")
        assert (await raw(site, "/conflicting-lengths")).count(b"Content-Length") == 2
        assert (await raw(site, "/many-headers?n=10000")).partition(b"\r\n\r\n")[0].count(b"\r\nX-") == 10_000
        assert len((await get(f"{site.url}/long-header?kb=1024")).headers["x-long"]) == 1024 * 1024
        with pytest.raises(ConnectionResetError):
            await raw(site, "/reset-in-body")

    on_site(story)


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("/never", b""),
        ("/drip-headers?every=0.01", b"HTTP/1.1 200"),
        ("/drip-body?every=0.01", b"HTTP/1.1 200"),
        ("/endless", b"HTTP/1.1 200"),
        ("/endless-1xx", b"HTTP/1.1 103"),
    ],
)
def test_what_never_ends_goes_on_until_the_client_leaves(path: str, first: bytes) -> None:
    async def story(site: Site) -> None:
        parts = urlsplit(site.url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        async with asyncio.timeout(5):
            assert await reader.readexactly(len(first)) == first
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    while await reader.read(65536):
                        pass
            assert site.log.in_flight == 1
            assert site.hits[0].end is None
            writer.transport.abort()
            await site.until(lambda: site.log.in_flight == 0)
        assert site.hits[0].end is not None

    on_site(story)


def test_the_log_knows_who_asked_what_when() -> None:
    async def story(site: Site) -> None:
        await get(f"{site.url}/slow?s=0.05", user_agent="tester", host="A.test:80")
        await get(f"{site.url}/nowhere")
        assert [(hit.method, hit.path, hit.query) for hit in site.hits] == [
            ("GET", "/slow", "s=0.05"),
            ("GET", "/nowhere", ""),
        ]
        slow = site.hits[0]
        assert (slow.host, slow.hostname, slow.user_agent) == ("A.test:80", "a.test", "tester")
        assert slow.end is not None
        assert slow.start < time.monotonic() - 0.04
        assert slow.end - slow.start >= 0.04
        log = (await get(f"{site.url}/_log")).json()
        assert [hit["path"] for hit in log["hits"]] == ["/slow", "/nowhere"]
        assert log["peak"] == 1
        await get(f"{site.url}/_log/reset")
        assert (site.hits, site.peak, dict(site.peak_by_host)) == ([], 0, {})

    on_site(story)


def test_peaks_are_counted_over_all_and_for_each_host() -> None:
    async def story(site: Site) -> None:
        near = [get(site.url_for("/slow?s=0.3")) for _ in range(3)]
        far = [get(site.url_for("/slow?s=0.3", host="127.0.0.2")) for _ in range(5)]
        answers = await asyncio.gather(*near, *far)
        assert {answer.status for answer in answers} == {200}
        assert (site.peak, dict(site.peak_by_host)) == (8, {"127.0.0.1": 3, "127.0.0.2": 5})

    on_site(story)


def test_all_nine_addresses_serve_the_same_site() -> None:
    async def story(site: Site) -> None:
        hosts = [f"127.0.0.{number}" for number in range(1, 10)]
        answers = [await get(site.url_for("/echo", host=host)) for host in hosts]
        assert [answer.json()["headers"]["host"] for answer in answers] == [f"{h}:{site.port}" for h in hosts]

    on_site(story)


def test_only_loopback_is_served() -> None:
    with pytest.raises(ValueError, match="loopback only"):
        asyncio.run(Site(host="0.0.0.0").start())


def test_cookies_go_out_and_come_back() -> None:
    async def story(site: Site) -> None:
        answer = await get(f"{site.url}/cookies/set?name=v")
        assert answer.headers["set-cookie"] == "name=v; Path=/"
        assert (await get(f"{site.url}/cookies", cookie="name=v; b=2")).json() == {"name": "v", "b": "2"}

    on_site(story)


def test_a_test_can_add_a_route_of_its_own() -> None:
    async def mine(call: Call) -> Reply:
        return Reply(201, call.request.query.encode())

    async def story(site: Site) -> None:
        site.routes["/mine"] = mine
        assert (await get(f"{site.url}/mine?x")).body == b"x"
        async with Site() as other:
            assert (await get(f"{other.url}/mine?x")).status == 404

    on_site(story)


def test_bad_requests_are_refused_and_connections_are_kept() -> None:
    async def story(site: Site) -> None:
        assert parse(await exchange(site.url, b"what\r\n\r\n")).status == 400
        assert (await get(f"{site.url}/list?n=many")).status == 400
        both = b"GET /ok HTTP/1.1\r\nHost: x\r\n\r\nHEAD /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        answer = await exchange(site.url, both)
        assert (answer.count(b"HTTP/1.1 200"), answer.count(b"<h1>")) == (2, 1)

    on_site(story)


def test_a_stopped_site_comes_back_on_its_port() -> None:
    async def story(site: Site) -> None:
        url = f"{site.url}/ok"
        never = asyncio.create_task(exchange(url, b"GET /never HTTP/1.1\r\nHost: x\r\n\r\n"))
        await site.until(lambda: len(site.hits) == 1)
        async with asyncio.timeout(2):
            await site.stop()
        with suppress(ConnectionError):
            assert await never == b""
        with pytest.raises(ConnectionRefusedError):
            await get(url)
        await site.start()
        assert (await get(url)).status == 200

    on_site(story)


def test_the_module_serves_in_a_process_of_its_own() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.site", "--port", "0"], stdout=subprocess.PIPE, cwd=ROOT, text=True
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert asyncio.run(get(f"{url}/ok")).status == 200
        assert len(asyncio.run(get(f"{url}/_log")).json()["hits"]) == 1
        process.terminate()
        assert process.wait(timeout=10) == 0
    finally:
        process.kill()
        process.communicate()


def through(proxy: Proxy, url: str, **headers: str) -> Awaitable[bytes]:
    lines = {"host": urlsplit(url).netloc} | {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return exchange(proxy.url, f"GET {url} HTTP/1.1\r\n{head}\r\n".encode())


def test_the_proxy_passes_requests_on_and_remembers_them() -> None:
    async def story(site: Site) -> None:
        async with Proxy(hosts={"far.test": ("127.0.0.3", site.port)}) as proxy:
            url = "http://far.test/echo?x=1"
            echoed = parse(await through(proxy, url, proxy_connection="keep-alive")).json()
            assert echoed["target"] == "/echo?x=1"
            assert echoed["headers"]["host"] == "far.test"
            assert "proxy-connection" not in echoed["headers"]
            assert [(seen.method, seen.target) for seen in proxy.seen] == [("GET", url)]

    on_site(story)


def test_the_proxy_tunnels() -> None:
    async def story(site: Site) -> None:
        async with Proxy() as proxy:
            address = f"127.0.0.1:{site.port}"
            inner = "GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            answer = await exchange(proxy.url, f"CONNECT {address} HTTP/1.1\r\nHost: x\r\n\r\n{inner}".encode())
            established, _, rest = answer.partition(b"\r\n\r\n")
            assert established.startswith(b"HTTP/1.1 200")
            assert parse(rest).status == 200
            assert proxy.seen[0].target == address

    on_site(story)


def test_the_proxy_can_ask_for_credentials_refuse_and_hang_up() -> None:
    async def story(site: Site) -> None:
        url = f"{site.url}/ok"
        async with Proxy(auth=("u", "p")) as proxy:
            refused = parse(await through(proxy, url))
            assert (refused.status, "proxy-authenticate" in refused.headers) == (407, True)
            assert parse(await through(proxy, url, proxy_authorization="Basic dTpw")).status == 200
        async with Proxy(refuse_with=502) as proxy:
            assert parse(await through(proxy, url)).status == 502
            proxy.refuse_with, proxy.hang_up = None, True
            assert await through(proxy, url) == b""
        assert len(site.hits) == 1

    on_site(story)


def test_the_proxy_dials_nothing_but_loopback() -> None:
    async def story(_site: Site) -> None:
        async with Proxy() as proxy:
            for url in ("http://192.0.2.1/", "http://example.test/", "http://[2001:db8::1]/"):
                assert parse(await through(proxy, url)).status == 403
            assert parse(await through(proxy, "http://127.0.0.1:1/")).status == 502

    on_site(story)
