"""What is printed of a value shows no secret of it."""

from __future__ import annotations

import pytest

from tarantella.domain.cookie import Cookie
from tarantella.domain.recording import Reading, Recording
from tarantella.domain.recording_request import Template
from tarantella.domain.session import Session
from tarantella.domain.spec import Secrets
from tarantella.domain.struct import Discreet, Frozen
from tarantella.fetchers.cache import Entry
from tarantella.fetchers.contract import Options
from tarantella.fetchers.proxy import ProxyAddress

SECRET = "s3cret"
HOLDERS = (
    Cookie("token", SECRET, "example.com"),
    Session(({"name": "token", "value": SECRET},), ({"origin": SECRET},)),
    Recording(Template("GET", "https://example.com/"), Reading(), "", 1.0, ((("header", "x-key"), SECRET),)),
    Options(
        "agent", {"Authorization": SECRET}, cookies=({"token": SECRET},), proxy=SECRET, secrets={"PASSWORD": SECRET}
    ),
    Secrets({"Authorization": SECRET}, ({"token": SECRET},), SECRET, values={"PASSWORD": SECRET}),
    ProxyAddress("http", "example.com", 80, SECRET, SECRET),
    Entry("https://example.com/", 200, {}, 0.0, body=SECRET.encode()),
)


class Around(Frozen):
    inner: Discreet


@pytest.mark.parametrize("holder", HOLDERS, ids=lambda holder: type(holder).__name__)
def test_neither_a_text_nor_rich_shows_what_is_not_to_be_seen(holder: Discreet) -> None:
    assert holder.unshown <= set(holder.__struct_fields__)
    for shown in (repr(holder), str(holder), repr(holder.__rich_repr__()), repr(Around(holder))):
        assert SECRET not in shown


def test_the_rest_is_shown_as_usual() -> None:
    assert repr(ProxyAddress("http", "h", 80, "me")) == "ProxyAddress(scheme='http', host='h', port=80)"


def test_all_of_them_are_looked_at() -> None:
    assert {type(holder) for holder in HOLDERS} == set(Discreet.__subclasses__())
