"""A token that is revoked takes along what is being streamed to whoever showed it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator

import httpx2
import pytest

from tarantella.domain.access import Scope
from tarantella.domain.errors import StoreBusy
from tarantella.services import tokens
from tarantella.services.app import App
from tarantella.services.tokens import KNOWN_FOR, Tokens
from tests.integration.api.live import Live, serving
from tests.integration.api.talking import Talker


@pytest.fixture
def live(app: App) -> Iterator[Live]:
    with serving(app) as served:
        yield served


class Watching:
    """A stream that is read by a thread of its own, until its end."""

    def __init__(self, live: Live, run: str, what: str, token: str | None) -> None:
        self._url = f"{live.url}/jobs/runs/{run}/{what}/stream"
        self._headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        self.has_begun = threading.Event()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()
        assert self.has_begun.wait(10)

    def _read(self) -> None:
        with httpx2.stream("GET", self._url, headers=self._headers, timeout=30) as answer:
            assert answer.status_code == 200
            try:
                for _ in answer.iter_lines():
                    self.has_begun.set()
            except httpx2.HTTPError:
                pass  # it was cut off

    def ends_within(self, seconds: float) -> bool:
        self.thread.join(seconds)
        return not self.thread.is_alive()


@pytest.mark.parametrize("what", ["events", "progress"])
def test_a_revoked_token_loses_its_streams_and_others_keep_theirs(
    client: Talker, app: App, live: Live, what: str
) -> None:
    run = client.task("https://a.example/")
    gone, text = asyncio.run(tokens.create(app, "gone", Scope.READ))
    _, kept = asyncio.run(tokens.create(app, "kept", Scope.READ))
    ours, theirs = Watching(live, run, what, text), Watching(live, run, what, kept)
    asyncio.run(tokens.revoke(app, gone.id))
    assert ours.ends_within(KNOWN_FOR + 2.0)
    assert not theirs.ends_within(KNOWN_FOR)
    assert live.plane.broadcasts.watchers == 1


def test_who_watches_without_a_token_is_let_go_once_one_is_wanted(client: Talker, app: App, live: Live) -> None:
    stream = Watching(live, client.task("https://a.example/"), "events", None)
    asyncio.run(tokens.create(app, "first", Scope.READ))
    assert stream.ends_within(KNOWN_FOR + 2.0)


def test_many_streams_look_at_the_tokens_together(
    client: Talker, app: App, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = client.task("https://a.example/")
    _, text = asyncio.run(tokens.create(app, "many", Scope.READ))
    streams = [Watching(live, run, "events", text) for _ in range(10)]
    reads: list[float] = []
    read = app.database.read

    async def counted(work: object) -> object:
        if getattr(work, "__module__", "") == "tarantella.store.tokens":
            reads.append(time.monotonic())
        return await read(work)  # type: ignore[arg-type]

    monkeypatch.setattr(app.database, "read", counted)
    assert not streams[0].ends_within(3 * KNOWN_FOR)
    assert 1 <= len(reads) <= 3


def test_a_stream_goes_on_while_nobody_can_tell_which_tokens_there_are(
    client: Talker, app: App, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = client.task("https://a.example/")
    _, text = asyncio.run(tokens.create(app, "kept", Scope.READ))
    stream = Watching(live, run, "events", text)

    async def away(_: Tokens) -> None:
        raise StoreBusy("The database is away.")

    monkeypatch.setattr(Tokens, "valid", away)
    assert not stream.ends_within(2 * KNOWN_FOR)
