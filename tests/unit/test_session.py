"""A login that another program wrote down is understood, stored where nobody else can read it, and never repeated."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tarantella.domain.errors import InvalidInput, NotFound
from tarantella.domain.session import Session, check_session_name, session_of
from tarantella.fetchers.browser.sessions import Sessions
from tarantella.services.sessions import read_session_file

COOKIE = {"name": "sid", "value": "s3cret", "domain": ".example.com", "path": "/", "expires": 1_900_000_000}
STATE = {
    "cookies": [COOKIE],
    "origins": [{"origin": "https://example.com", "localStorage": [{"name": "token", "value": "s3cret"}]}],
}


def test_three_ways_to_write_a_login_down_are_understood(tmp_path: Path) -> None:
    playwright, export, netscape = (tmp_path / name for name in ("state.json", "export.json", "cookies.txt"))
    playwright.write_text(json.dumps(STATE))
    exported = {
        "name": "sid",
        "value": "s3cret",
        "domain": ".example.com",
        "expirationDate": 1.9e9,
        "sameSite": "no_restriction",
    }
    export.write_text(json.dumps([exported]))
    netscape.write_text("# Netscape HTTP Cookie File\n.example.com\tTRUE\t/\tTRUE\t0\tsid\ts3cret\n")
    found = [read_session_file(path) for path in (playwright, export, netscape)]
    assert [session.hosts for session in found] == [["example.com"]] * 3
    assert [session.cookies[0]["value"] for session in found] == ["s3cret"] * 3
    assert [session.expires_at() for session in found] == [1.9e9, 1.9e9, None]
    assert found[0].origins[0]["localStorage"] == [{"name": "token", "value": "s3cret"}]
    assert found[1].cookies[0]["sameSite"] == "None"


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"cookies": []},
        {"cookies": "sid=1"},
        [3],
        [{"name": "sid", "value": "s3cret"}],
        [{**COOKIE, "value": "s3cret\r\nX: y"}],
        [{**COOKIE, "domain": ""}],
        {"cookies": [COOKIE], "origins": [{}]},
        {"cookies": [COOKIE], "origins": [{"origin": "https://a.b", "localStorage": [{"name": 3, "value": "s3cret"}]}]},
    ],
)
def test_what_is_no_session_is_refused_and_nothing_of_it_repeated(data: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        session_of(data)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "-a", "a" * 65, "a\n", "ü"])
def test_a_name_can_not_lead_out_of_the_folder(name: str) -> None:
    with pytest.raises(InvalidInput):
        check_session_name(name)


def test_a_stored_session_is_its_owners_alone_and_tells_nothing_of_what_is_in_it(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path / "sessions")
    told = sessions.save("shop", session_of(STATE))
    assert stat.S_IMODE((tmp_path / "sessions" / "shop.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "sessions").stat().st_mode) == 0o700
    assert sessions.load("shop") == session_of(STATE)
    assert "s3cret" not in repr(told) + repr(sessions.load("shop")) + repr(sessions.listed())
    first = sessions.edition("shop")
    sessions.save("shop", Session((dict(session_of(STATE).cookies[0]),)))
    assert sessions.edition("shop") != first
    sessions.delete("shop")
    assert (sessions.listed(), sessions.edition("shop")) == ([], None)
    for work in (sessions.delete, sessions.load):
        with pytest.raises(NotFound):
            work("shop")
