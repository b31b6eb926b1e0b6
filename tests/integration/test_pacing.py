"""The gateway of a scraper that has a limit, as the usual ways to ask use it."""

from __future__ import annotations

import asyncio
import http.client
import http.server
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tarantella.bootstrap import open_app
from tarantella.domain.scraper import RateLimit, Scraper
from tarantella.fetchers import gateway
from tarantella.services.pacing import Pacer


class Answers(http.server.BaseHTTPRequestHandler):
    """A server that keeps its connections, and says what it was asked."""

    protocol_version = "HTTP/1.1"
    slow = 0.0

    def do_GET(self) -> None:
        time.sleep(self.slow)
        length = int(self.headers.get("Content-Length") or 0)
        told = f"{self.command} {self.path} {self.rfile.read(length).decode()}".strip().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(told)

    def do_POST(self) -> None:
        self.do_GET()

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *_: Any) -> None: ...


@contextmanager
def server(**more: Any) -> Iterator[int]:
    served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Answering", (Answers,), more))
    served.daemon_threads = True
    thread = threading.Thread(target=served.serve_forever, daemon=True)
    thread.start()
    try:
        yield served.server_port
    finally:
        served.shutdown()
        served.server_close()


def through_a_gateway(folder: Path, ask: Callable[[int], Any], rate: float = 1_000.0) -> Any:
    """What is asked in a thread of its own, as a script would."""

    async def go() -> Any:
        tools = app.make_tools()
        pacer = Pacer(tools.guard)
        try:
            told = await pacer.environment(Scraper("x", rate_limit=RateLimit(rate)))
            return await asyncio.to_thread(ask, int(told["http_proxy"].rpartition(":")[2]))
        finally:
            await pacer.close()
            await tools.close()

    app = open_app(data_dir=folder)
    try:
        return asyncio.run(go())
    finally:
        app.close()


def test_one_connection_to_the_gateway_asks_several_hosts(tmp_path: Path) -> None:
    def ask(port: int) -> list[bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        answers = []
        for method, other, body in (("GET", one, None), ("POST", two, "abc"), ("HEAD", one, None), ("GET", two, None)):
            connection.request(method, f"http://127.0.0.1:{other}/favicon.ico", body)
            answers.append(connection.getresponse().read())
        return answers

    with server() as one, server() as two:
        assert through_a_gateway(tmp_path, ask) == [
            b"GET /favicon.ico",
            b"POST /favicon.ico abc",
            b"",
            b"GET /favicon.ico",
        ]


def test_an_answer_may_take_longer_than_a_browser_keeps_a_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "HEAD_SECONDS", 0.2)

    def ask(port: int) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", f"http://127.0.0.1:{slow}/a")
        return connection.getresponse().read()

    with server(slow=1.0) as slow:
        assert through_a_gateway(tmp_path, ask) == b"GET /a"


def test_every_request_has_its_turn(tmp_path: Path) -> None:
    def ask(port: int) -> float:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        began = time.monotonic()
        for _ in range(6):
            connection.request("GET", f"http://127.0.0.1:{one}/a")
            connection.getresponse().read()
        return time.monotonic() - began

    with server() as one:
        assert through_a_gateway(tmp_path, ask, rate=10.0) >= 0.5
