"""What a taster is told and tells goes through a pipe, and comes out as it went in."""

from __future__ import annotations

from tarantella.domain.cookie import Cookie
from tarantella.domain.failure import Failure
from tarantella.domain.recording import Paging, Place, Reading
from tarantella.domain.recording_paging import Position
from tarantella.domain.spec import Field
from tarantella.domain.url import resolve
from tarantella.engine.taster import pack_request, pack_visit, unpack_request, unpack_visit
from tarantella.engine.visit import Visit
from tarantella.extractors.page import Extracted, Wants
from tarantella.extractors.recorded import Recorded, Replayed
from tarantella.fetchers.contract import Caching, Options, Request

COOKIE = Cookie("a", "s3cret", "example.com", "/x", secure=True, host_only=False, expires_at=5.0, set_at=1.0)
OPTIONS = Options(
    "Test/1",
    headers={"x": "y"},
    trusted_servers=frozenset({"example.com"}),
    cookies=({"name": "b", "value": "1", "domain": "example.com"},),
    allow_networks=("127.0.0.0/8",),
    cache=Caching("folder", 5.0, 1_000_000),
)


def test_a_request_arrives_as_it_was_sent() -> None:
    request = Request(resolve("https://example.com/?q=1"), OPTIONS, 3, (COOKIE,))
    wants = Wants("none", (Field("title", "h1", "id"),), False)
    assert unpack_request(pack_request(request, wants, True)) == (request, wants, True)
    plain = Request(resolve("https://example.com/"), Options("Test/1"))
    assert unpack_request(pack_request(plain, Wants(), False)) == (plain, Wants(), False)


def test_who_has_to_ask_before_following_a_redirect_follows_none_there() -> None:
    request = Request(resolve("https://example.com/"), OPTIONS, follows=lambda url: True)
    arrived, _, _ = unpack_request(pack_request(request, Wants(), False))
    assert arrived.follows is not None
    assert not arrived.follows(request.url)


def test_a_visit_comes_back_as_it_was_made() -> None:
    page = Visit(
        "https://example.com/",
        200,
        7,
        "text/html",
        {"content-type": "text/html"},
        2,
        cookies=(COOKIE,),
        extracted=Extracted({"title": "T"}, ["/a"], None, True),
        body=b"\x00\xff",
        protocol="h2",
        from_cache=True,
    )
    assert unpack_visit(pack_visit(page)) == page
    failed = Visit("https://example.com/", failure=Failure.NETWORK, detail="reset", final=True)
    assert unpack_visit(pack_visit(failed)) == failed
    moved = Visit("https://example.com/", 302, redirect_to=resolve("https://other.com/"))
    assert unpack_visit(pack_visit(moved)) == moved


def test_a_recorded_question_and_its_answer_go_through_whole() -> None:
    reading = Reading(
        ("data", "list"),
        {"n": Place(("a", None, 0), "fixed_2", "€ ", kinds=("number",))},
        Paging("number", ("query", 0)),
    )
    wants = Wants("none", recorded=Recorded(reading, Position("r1", 2, 2, seen="m")))
    request = Request(
        resolve("https://example.com/api"), OPTIONS, headers={"x-key": "1"}, method="POST", body='{"q": "ä"}'.encode()
    )
    assert unpack_request(pack_request(request, wants, False)) == (request, wants, False)
    replayed = Replayed(None, "shape", ["replay=r1&n=3"])
    visit = Visit("https://example.com/api", 200, extracted=Extracted({}, items=[{}], replayed=replayed))
    again = unpack_visit(pack_visit(visit)).extracted
    assert again is not None and (again.items, again.replayed) == ([{}], replayed)
