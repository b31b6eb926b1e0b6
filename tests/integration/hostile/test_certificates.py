"""Certificates that prove nothing: row 10 of docs/hostile-input.md."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tarantella.services.app import App
from tests.integration.crawling import awaited, crawl
from tests.site import Site
from tests.site.wire import answering, silence, wire

PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\nConnection: close\r\n\r\n<p>hi</p>"


@pytest.mark.parametrize("obey_robots", [True, False])
@pytest.mark.parametrize("certificate", ["expired", "selfsigned", "other", "good without its authority"])
@awaited
async def test_a_certificate_that_proves_nothing_is_never_accepted(
    app: App, certificates: Path, certificate: str, obey_robots: bool
) -> None:
    name, *without = certificate.split(" ", 1)
    heads: list[bytes] = []

    def answer(head: bytes) -> bytes:
        heads.append(head)
        return PAGE

    async with Site() as site, wire(answering(answer), certificates / name) as port:
        ca_file = None if without else str(certificates / "ca.pem")
        url = f"https://127.0.0.1:{port}/"
        crawled = await crawl(app, site, url, ca_file=ca_file, attempts=2, obey_robots=obey_robots)
    [found] = crawled.pages.values()
    assert (found["state"], found["reason"]) == ("failed", "network")
    assert found["detail"].startswith("tls: ")
    assert "CERTIFICATE_VERIFY_FAILED" in found["detail"]
    assert len(crawled.attempts(next(iter(crawled.pages)))) == 2
    assert heads == []


@awaited
async def test_a_good_certificate_of_a_given_authority_is_accepted(app: App, certificates: Path) -> None:
    async with Site() as site, wire(answering(lambda _head: PAGE), certificates / "good") as port:
        crawled = await crawl(app, site, f"https://127.0.0.1:{port}/", ca_file=str(certificates / "ca.pem"))
    assert crawled.status == "completed"


@awaited
async def test_what_speaks_no_tls_is_a_tls_failure_and_what_says_nothing_a_timeout(app: App) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(PAGE)
        await writer.drain()

    async with Site() as site, wire(plain) as loud, wire(silence) as mute:
        once = {"attempts": 1, "obey_robots": False, "total_timeout": 0.5}
        said = await crawl(app, site, f"https://127.0.0.1:{loud}/", **once)
        unsaid = await crawl(app, site, f"https://127.0.0.1:{mute}/", **once)
    assert [(found["reason"], found["detail"][:4]) for found in said.pages.values()] == [("network", "tls:")]
    assert list(unsaid.states.values()) == ["failed(timeout)"]
