"""Certificates that prove nothing: row 10 of docs/hostile-input.md."""

from __future__ import annotations

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
    async with Site() as site, wire(answering(lambda _head: PAGE)) as plain, wire(silence) as mute:
        garbage = await crawl(
            app, site, f"https://127.0.0.1:{plain}/", attempts=1, obey_robots=False, total_timeout=2.0
        )
        nothing = await crawl(app, site, f"https://127.0.0.1:{mute}/", attempts=1, obey_robots=False, total_timeout=0.5)
    [said], [unsaid] = garbage.pages.values(), nothing.pages.values()
    assert said["reason"] in ("network", "timeout")
    assert unsaid["reason"] == "timeout"
