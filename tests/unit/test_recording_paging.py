"""How a list goes on: seen at work between two parts, or by what things are called; followed to its end and no further."""

from __future__ import annotations

from typing import Any

import pytest

from tarantella.domain.recording import Paging
from tarantella.domain.recording_paging import Part, Position, find_paging, next_positions, position_of
from tarantella.domain.recording_request import Template, with_slot

HERE = Position("r1")


def part(url: str, answer: Any, items: int = 2, body: str | None = None, link: str | None = None) -> Part:
    whole = f"https://shop.example{url}"
    template = Template("POST" if body else "GET", whole, {}, body)
    return Part(template, whole, answer, [{}] * items, link)


def followed(paging: Paging, *answers: Any, items: int = 2) -> list[Any]:
    """What is asked for, answer by answer."""
    asked: list[Any] = []
    here = HERE
    for number, answer in enumerate(answers):
        ahead = next_positions(paging, here, answer, items, f"mark {number}")
        asked.append([position.value for position in ahead])
        if not ahead:
            break
        here = ahead[-1]
    return asked


def test_a_page_number_that_was_seen_to_grow_is_counted_on() -> None:
    template, paging = find_paging([part("/a?q=x&n=1&_=77", {}), part("/a?q=x&n=2&_=78", {}, items=1)])
    assert paging is not None and (paging.kind, paging.step, paging.start, paging.seen) == ("number", 1, 1, True)
    assert with_slot(template, paging.slot, 9).url == "https://shop.example/a?q=x&n=9&_=78"
    assert followed(paging, {}, {}, {}) == [[2], [3], [4]]


@pytest.mark.parametrize(
    ("first", "second", "start", "left_out"),
    [
        ("/a", "/a?page=2", 1, "https://shop.example/a"),
        ("/a?size=2", "/a?size=2&page=1", 0, "https://shop.example/a?size=2"),
        ("/a", "/a?offset=2", 0, "https://shop.example/a"),
    ],
)
def test_a_number_that_the_first_question_left_out_is_left_out_again(
    first: str, second: str, start: int, left_out: str
) -> None:
    template, paging = find_paging([part(first, {}), part(second, {})])
    assert paging is not None and paging.start == start
    assert with_slot(template, paging.slot, paging.first).url == left_out


def test_numbers_in_a_path_a_form_and_a_body_are_counted_too() -> None:
    for one, other in (
        (part("/goods/page/1", {}), part("/goods/page/2", {})),
        (part("/g", {}, body='{"q": "x", "page": {"n": 1}}'), part("/g", {}, body='{"q": "x", "page": {"n": 2}}')),
        (part("/g?v=%7B%22skip%22%3A0%7D", {}), part("/g?v=%7B%22skip%22%3A2%7D", {})),
    ):
        template, paging = find_paging([one, other])
        assert paging is not None and paging.kind == "number"
        assert with_slot(template, paging.slot, 3) != template


def test_a_cursor_is_found_where_the_answer_had_it() -> None:
    answer = {"goods": [], "meta": {"cursors": {"then": "abc"}}}
    template, paging = find_paging([part("/a?size=2", answer), part("/a?size=2&c=abc", {})])
    assert paging is not None and (paging.kind, paging.path) == ("cursor", ("meta", "cursors", "then"))
    assert with_slot(template, paging.slot, paging.first).url == "https://shop.example/a?size=2"
    assert with_slot(template, paging.slot, "x/y+=").url == "https://shop.example/a?size=2&c=x%2Fy%2B%3D"


def test_graphql_goes_on_by_its_variables() -> None:
    body = '{"query":"query G { x }","variables":{"first":2,"after":null}}'
    about = {"data": {"g": {"pageInfo": {"hasNextPage": True, "endCursor": "c2"}}}}
    template, paging = find_paging([part("/graphql", about, body=body)])
    assert paging is not None
    assert (paging.slot, paging.path[-1], paging.more) == (
        ("body", "variables", "after"),
        "endCursor",
        ("data", "g", "pageInfo", "hasNextPage"),
    )
    assert with_slot(template, paging.slot, "c2").body == body.replace("null", '"c2"')
    over = {"data": {"g": {"pageInfo": {"hasNextPage": False, "endCursor": "c4"}}}}
    assert followed(paging, about, over) == [["c2"], []]


def test_an_address_and_a_link_are_followed_as_they_are() -> None:
    answer = {"_links": {"self": {"href": "/a"}, "next": {"href": "/a?from=2"}}}
    _, paging = find_paging([part("/a", answer)])
    assert paging is not None and (paging.kind, paging.path) == ("address", ("_links", "next", "href"))
    assert followed(paging, answer, {"_links": {"next": None}}) == [["/a?from=2"], []]
    _, by_header = find_paging([part("/a", [], link="https://shop.example/a?p=2")])
    assert by_header is not None and by_header.kind == "link"


def test_where_the_end_is_known_all_parts_are_asked_for_at_once() -> None:
    _, paging = find_paging([part("/a?page=1", {"total": 7})])
    assert paging is not None
    assert followed(paging, {"total": 7}) == [[2, 3, 4]]
    _, by_pages = find_paging([part("/a?page=0", {"totalPages": 3})])
    assert by_pages is not None
    assert followed(by_pages, {"totalPages": 3}) == [[1, 2]]
    # Nobody is made to ask a million times at once.
    assert len(followed(paging, {"total": 10**9})[0]) == 1_000


def test_where_a_page_stopped_although_there_was_more_so_does_a_replay() -> None:
    for answer, url in (({"total": 9}, "/a?page={}"), ({}, "/a?page={}"), ({"next_cursor": "2"}, "/a?cursor={}")):
        parts = [part(url.format(number), answer) for number in (1, 2)]
        _, paging = find_paging(parts)
        assert paging is not None and paging.most == 2
        [first, *rest] = followed(paging, answer, answer, answer)
        assert (len(first), [each for each in rest if each]) == (1, [])
    # Nobody stopped where the list was over.
    assert find_paging([part("/a?page=1", {}), part("/a?page=2", {}, items=1)])[1] == Paging(
        "number", slot=("query", 0), first="1", start=1, size=2, seen=True
    )


@pytest.mark.parametrize("name", ["q", "year", "size", "limit", "id"])
def test_what_is_not_called_a_page_is_not_counted_by_its_name(name: str) -> None:
    assert find_paging([part(f"/a?{name}=1", {})])[1] is None


def test_a_list_ends_where_nothing_comes_or_the_same_comes_again() -> None:
    paging = Paging("number", slot=("query", 0), start=1)
    assert next_positions(paging, HERE, {}, 0, "") == []
    assert next_positions(paging, Position("r1", 2, seen="same"), {}, 2, "same") == []
    cursor = Paging("cursor", slot=("query", 0), path=("next",))
    assert next_positions(cursor, Position("r1", "c1"), {"next": "c1"}, 2, "m") == []
    assert next_positions(cursor, HERE, {"next": "x" * 5_000}, 2, "m") == []


@pytest.mark.parametrize(
    "position", [Position("r1"), Position("r1", 3, 3, last=False), Position("r1", "a&b=c#d é", seen="m")]
)
def test_a_position_is_read_back_as_it_was_written(position: Position) -> None:
    again = position_of(f"https://shop.example/a?x=1#{position.written()}")
    assert again is not None
    assert again == position
    assert position_of("https://shop.example/a#top") is None
