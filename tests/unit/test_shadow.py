"""Shadow roots that a page declares are read where people see them."""

from __future__ import annotations

import time

import pytest

from tarantella.domain.field import field_set_of
from tarantella.domain.spec import Spec
from tarantella.extractors.page import Extracted, Wants, extract

CARD = (
    '<x-card><template shadowrootmode="open"><h2><slot name="title">No title</slot></h2><p class="price">5.00</p>'
    '<slot></slot><a href="/more">More</a></template><b slot="title">Tea</b>Leaves from <a href="/hills">hills</a>'
    '<i slot="nowhere">not shown <a href="/hidden">x</a></i></x-card>'
)


def read(body: str, **wanted: object) -> Extracted:
    chosen = field_set_of({"fields": wanted}) if wanted else None
    spec = Spec(text="fast", fields=chosen.fields if chosen else ())
    page = f"<!doctype html><title>t</title><body>{body}"
    return extract(page.encode(), "text/html; charset=utf-8", Wants.of(spec), "https://a.example/")


def test_links_text_and_fields_are_found_as_they_are_shown() -> None:
    page = read(CARD, price=".price", name="h2 b", first="x-card > h2")
    assert list(page.hrefs) == ["/hills", "/more"]
    flat = "<x-card><h2><b>Tea</b></h2><p class=price>5.00</p>Leaves from <a>hills</a><a>More</a></x-card>"
    assert page.data["text"] == read(flat).data["text"]
    assert page.data["fields"] == {"price": "5.00", "name": "Tea", "first": "Tea"}


def test_what_nobody_puts_into_a_slot_is_what_stands_in_it() -> None:
    page = read('<x-a><template shadowrootmode=open><slot name=n>as <a href="/usual">usual</a></slot></template></x-a>')
    assert (page.data["text"], list(page.hrefs)) == ("as usual", ["/usual"])


def test_roots_in_roots_are_shown_and_slots_are_handed_on() -> None:
    inner = "<x-in><template shadowrootmode=closed><em><slot></slot></em>!</template><slot name=a></slot></x-in>"
    page = read(
        f"<x-out><template shadowrootmode=open>({inner})</template><u slot=a>handed on</u></x-out>", what="em u"
    )
    assert page.data["text"] == "(handed on!)"
    assert page.data["fields"] == {"what": "handed on"}


@pytest.mark.parametrize(
    "plain",
    [
        "<x-a><template><a href=/t>t</a></template><a href=/l>l</a></x-a>",
        "<x-a><template shadowrootmode=other><a href=/t>t</a></template><a href=/l>l</a></x-a>",
        "<ul><template shadowrootmode=open><a href=/t>t</a></template><li><a href=/l>l</a></ul>",
    ],
)
def test_other_templates_are_left_as_they_are(plain: str) -> None:
    assert list(read(plain).hrefs) == ["/t", "/l"]


@pytest.mark.parametrize(
    "hostile",
    [
        "<x-a><template shadowrootmode=open><slot>" * 100_000,
        "<b>" * 100_000 + "<x-a><template shadowrootmode=open>" + "<slot></slot>" * 100_000,
        "<x-a><template shadowrootmode=open><slot></slot></template>x</x-a>" * 20_000,
        "<x-a><template shadowrootmode=open>" + "<slot></slot>" * 100_000,
        "<x-a><template shadowrootmode=open><slot></slot></template>" + "<b>x</b>" * 100_000,
    ],
)
def test_however_many_there_are_it_takes_no_time(hostile: str) -> None:
    began = time.process_time()
    read(hostile)
    assert time.process_time() - began < 5.0
