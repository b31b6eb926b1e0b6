"""Streams: numbered, resumed, paced, shared, and ended."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from tarantella.api import streams
from tarantella.api.streaming import Streamed
from tarantella.domain.event import Event
from tarantella.domain.run import RunStatus
from tarantella.services.app import App
from tarantella.services.broadcast import Broadcast
from tarantella.store import events
from tests.integration.api.listening import Told, messages, watched
from tests.integration.api.live import Live, serving
from tests.integration.api.talking import Talker
from tests.site import Site


def watch(live: Live, run_id: str, what: str = "events", last: int | None = None) -> list[Told]:
    """A stream of a run to its end."""
    return watched(live, f"/jobs/runs/{run_id}/{what}/stream", last)


def say(app: App, run_id: str, number: int) -> None:
    """Let so many things happen to a run, in one moment."""
    said = [Event(f"Something {i}") for i in range(number)]
    app.database.write_now(partial(events.record, run_id=run_id, events=said, now=time.time()))


@pytest.fixture
def live(app: App) -> Iterator[Live]:
    with serving(app) as served:
        yield served


@pytest.mark.usefixtures("engine")
def test_the_stream_has_every_event_once_in_order_and_ends_after_the_last(
    client: Talker, live: Live, site: Site
) -> None:
    run = client.task(site.url_for("/list?n=5"), max_depth=2)
    told = watch(live, run)
    *history, end = told
    assert [message.id for message in history] == [1, 2, 3]
    assert [message.data["message"] for message in history] == ["Run created", "Run started", "Run completed"]
    assert (end.kind, end.data) == ("end", {"status": "completed"})
    assert [message.data for message in history] == client.get(f"/jobs/runs/{run}/events")


def test_who_was_cut_off_goes_on_behind_the_last_event_that_was_seen(client: Talker, live: Live) -> None:
    run = client.task("https://a.example/")
    client.delete(f"/scraping/tasks/{run}")
    assert [message.id for message in watch(live, run)[:-1]] == [1, 2, 3]
    assert [message.id for message in watch(live, run, last=2)[:-1]] == [3]
    # Nothing is left to see: the answer that tells browsers not to come back.
    again = httpx2.get(f"{live.url}/jobs/runs/{run}/events/stream", headers={"Last-Event-ID": "3"})
    assert again.status_code == 204
    nonsense = httpx2.get(f"{live.url}/jobs/runs/{run}/events/stream", headers={"Last-Event-ID": "x"})
    assert nonsense.status_code == 422


def test_head_is_answered_as_get_is_without_the_body(client: Talker, live: Live) -> None:
    run = client.task("https://a.example/")  # nobody works on it: its streams would never end
    for path in (
        "/health",
        "/readyz",
        "/metrics",
        "/docs",
        "/nothing",
        f"/jobs/runs/{run}",
        f"/jobs/runs/{run}/export",
    ):
        got, head = (httpx2.request(method, live.url + path, timeout=20) for method in ("GET", "HEAD"))
        assert head.content == b"", path
        told = [(answer.status_code, answer.headers["content-type"]) for answer in (got, head)]
        assert told[0] == told[1], path
    for what in ("events", "progress"):
        head = httpx2.head(f"{live.url}/jobs/runs/{run}/{what}/stream", timeout=20)
        assert (head.status_code, head.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert 'method="HEAD",route="/health",status="200"' in httpx2.get(f"{live.url}/metrics").text
    _until(lambda: live.plane.broadcasts.watchers == 0)


def test_events_that_happen_together_come_together_and_none_is_missing(client: Talker, app: App, live: Live) -> None:
    run = client.task("https://a.example/")
    say(app, run, 1_200)
    client.delete(f"/scraping/tasks/{run}")
    told = watch(live, run)
    assert [number for message in told[:-1] for number in message.sequences] == list(range(1, 1_204))
    assert told[0].kind == "batch"


def test_no_client_gets_more_than_ten_messages_in_a_second(client: Talker, app: App, live: Live) -> None:
    run = client.task("https://a.example/")

    def talk() -> None:
        for _ in range(60):
            say(app, run, 1)
            time.sleep(0.03)
        client.delete(f"/scraping/tasks/{run}")

    talking = threading.Thread(target=talk)
    talking.start()
    told = watch(live, run)
    talking.join()
    assert [number for message in told[:-1] for number in message.sequences] == list(range(1, 64))
    times = [message.at for message in told]
    # The end is no news, and may come on top.
    assert max(sum(begin <= at < begin + 0.95 for at in times) for begin in times) <= streams.PER_SECOND + 1


def test_a_comment_is_sent_while_nothing_happens(client: Talker, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams.EventStream.__init__, "__defaults__", (0.2,))
    run = client.task("https://a.example/")
    with httpx2.stream("GET", f"{live.url}/jobs/runs/{run}/events/stream", timeout=10) as answer:
        comments = 0
        for told in messages(answer.iter_lines()):
            comments += told.kind == ":"
            if comments == 3:
                break
    client.delete(f"/scraping/tasks/{run}")


@pytest.mark.usefixtures("engine")
def test_the_progress_stream_tells_growing_counts_and_ends(client: Talker, live: Live, site: Site) -> None:
    run = client.task(site.url_for("/list?n=40&delay=0"), max_depth=2)
    *progress, end = watch(live, run, "progress")
    assert end.data == {"status": "completed"}
    assert {message.kind for message in progress} == {"progress"}
    done = [message.data["counts"]["done"] for message in progress]
    assert done == sorted(done)
    assert (done[-1], progress[-1].data["percent"]) == (41, 100)
    for message in progress:
        counts = message.data["counts"]
        assert counts["total"] == counts["done"] + counts["failed"] + counts["skipped"] + counts["pending"]


def test_three_hundred_clients_share_one_reader_and_all_hear_of_everything_within_a_second(
    client: Talker, app: App, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = client.task("https://a.example/")
    heard: list[list[float]] = []
    reads: list[object] = []
    read = app.database.read

    def counted(work: Any) -> Any:
        reads.append(work)
        return read(work)

    async def listen() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", live.port)
        writer.write(f"GET /jobs/runs/{run}/events/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        times: list[float] = []
        while line := await reader.readline():
            if b"Something" in line:
                times.append(time.monotonic())
            if b"event: end" in line:
                break
        heard.append(times)
        writer.close()

    said: list[float] = []

    async def talk() -> None:
        async with asyncio.timeout(20):
            while live.plane.broadcasts.watchers < 300:
                await asyncio.sleep(0.02)
        monkeypatch.setattr(app.database, "read", counted)
        await asyncio.sleep(1)
        monkeypatch.setattr(app.database, "read", read)
        for _ in range(3):
            await asyncio.to_thread(say, app, run, 1)
            said.append(time.monotonic())
            await asyncio.sleep(0.3)
        await asyncio.to_thread(client.delete, f"/scraping/tasks/{run}")

    async def all_of_them() -> None:
        await asyncio.gather(talk(), *(listen() for _ in range(300)))

    asyncio.run(all_of_them())
    assert 1 <= len(reads) <= 10
    assert [len(times) for times in heard] == [3] * 300
    for number, at in enumerate(said):
        assert max(times[number] for times in heard) - at < 1.0
    _until(lambda: live.plane.broadcasts.watchers == live.plane.broadcasts.readers == 0)


def test_a_client_that_does_not_read_is_dropped_and_others_live(
    client: Talker, app: App, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Streamed.__init__, "__kwdefaults__", {"patience": 0.5})
    run = client.task("https://a.example/")
    long = [Event("x" * 20_000) for _ in range(2_000)]
    app.database.write_now(partial(events.record, run_id=run, events=long, now=time.time()))
    deaf = live.connect(receive_buffer=4_096)
    deaf.sendall(f"GET /jobs/runs/{run}/events/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    _until(lambda: live.plane.broadcasts.watchers == 1)
    _until(lambda: live.plane.broadcasts.watchers == 0)
    client.delete(f"/scraping/tasks/{run}")
    assert watch(live, run)[-1].kind == "end"
    deaf.close()


def test_a_client_that_goes_away_is_forgotten(client: Talker, live: Live) -> None:
    run = client.task("https://a.example/")
    with httpx2.stream("GET", f"{live.url}/jobs/runs/{run}/events/stream", timeout=10):
        _until(lambda: live.plane.broadcasts.watchers == 1)
    _until(lambda: live.plane.broadcasts.watchers == 0)
    assert live.plane.broadcasts.readers == 0


def test_a_server_that_stops_ends_its_streams(client: Talker, live: Live) -> None:
    run = client.task("https://a.example/")
    threading.Timer(0.5, setattr, (live.server, "should_exit", True)).start()
    began = time.monotonic()
    assert watch(live, run)[-1].data == {"status": "server stopped"}
    assert time.monotonic() - began < 15


def test_unknown_runs_have_no_stream(live: Live) -> None:
    for what in ("events", "progress"):
        answer = httpx2.get(f"{live.url}/jobs/runs/{'0' * 8}-0000-7000-8000-{'0' * 12}/{what}/stream")
        assert answer.status_code == 404


def _until(condition: Any, seconds: float = 15.0) -> None:
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def test_a_comment_is_sent_while_only_the_counts_move() -> None:
    run: Any = SimpleNamespace(status=RunStatus.RUNNING, counts=0, records=0, reason=None, last_event=0)

    class OneRun:
        def __init__(self) -> None:
            self.broadcast = Broadcast("r", 0, streams.RUNS)

        @contextmanager
        def watching(self, *_: object) -> Iterator[Broadcast]:
            yield self.broadcast

    async def story() -> None:
        runs: Any = OneRun()
        stream = streams.EventStream(runs, streams.RUNS, run, 0, heartbeat=0.2)
        told: list[bytes] = []

        async def read() -> None:
            async for message in stream:
                told.append(message)

        reading = asyncio.create_task(read())
        for number in range(20):
            run.counts = number
            progress: Any = SimpleNamespace(run=SimpleNamespace(**vars(run)), phase="crawling")
            runs.broadcast.tell([], progress)
            await asyncio.sleep(0.05)
        reading.cancel()
        await stream.aclose()
        assert told.count(b": still here\n\n") >= 2

    asyncio.run(story())
