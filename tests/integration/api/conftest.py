"""The API in this process, somebody who talks to it, and an engine that does what is asked."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tarantella.api.app import make_api
from tarantella.bootstrap import open_app
from tarantella.domain.struct import replace
from tarantella.services.app import App
from tarantella.settings import load
from tests.integration.api.talking import Talker
from tests.integration.crawling import LOOPBACK, eager
from tests.site import Site


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """An application that may reach this machine."""
    opened = open_app(load(data_dir=tmp_path / "data", allow_networks=LOOPBACK))
    yield opened
    opened.close()


@pytest.fixture
def client(app: App) -> Iterator[Talker]:
    """A client of the API on an application of its own; nobody fetches anything."""
    with TestClient(make_api(app), base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as talking:
        yield Talker(talking)


@pytest.fixture
def http(client: Talker) -> TestClient:
    """The same client, for whoever looks at answers themselves."""
    return client.http


@pytest.fixture
def engine(app: App) -> Iterator[None]:
    """An engine that serves all runs, as `serve` has them in processes of their own."""
    with working(app):
        yield


@contextmanager
def working(app: App) -> Iterator[None]:
    """An engine in a thread with a loop of its own."""
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def life() -> None:
        # By chance now and then a page is looked at twice, to see whether it still needs its browser.
        tools = replace(app.make_tools(), recheck_share=0.0)
        worker = eager(app).make_worker(tools, None)
        await worker.start()
        work = asyncio.create_task(worker.run())
        ready.set()
        await over.wait()
        worker.stop()
        await work
        await tools.close()

    thread = threading.Thread(target=lambda: loop.run_until_complete(life()), name="engine", daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(20)
        loop.close()


@pytest.fixture
def site() -> Iterator[Site]:
    with site_in_a_thread() as served:
        yield served


@contextmanager
def site_in_a_thread() -> Iterator[Site]:
    """The test site, in a thread with a loop of its own."""
    ready, loop, site = threading.Event(), asyncio.new_event_loop(), Site()
    over = asyncio.Event()

    async def serve() -> None:
        async with site:
            ready.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), name="site", daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield site
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(10)
        loop.close()


def with_settings(app: App, **values: object) -> App:
    """The same application with other settings."""
    return replace(app, settings=dataclasses.replace(app.settings, **values))  # type: ignore[arg-type]
