"""A cookie is what browsers take for one, and goes where browsers send it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarantella.domain.cookie import LONGEST_LIFE, MAX_COOKIE, Cookie, domains_of, received, sent_to
from tarantella.domain.cookie_date import parse_cookie_date
from tarantella.domain.url import resolve

NOW = 1_000_000.0


def from_(address: str, header: str) -> Cookie | None:
    return received(header, resolve(address), NOW)


def goes(cookie: Cookie | None, address: str, now: float = NOW) -> bool:
    return cookie is not None and bool(sent_to(resolve(address), [cookie], now))


def test_a_plain_cookie_belongs_to_the_host_and_the_folder_that_set_it() -> None:
    cookie = from_("http://www.example.com/shop/item?x=/y/z", "sid = a=b ")
    assert cookie == Cookie("sid", "a=b", "www.example.com", "/shop", set_at=NOW)
    assert goes(cookie, "http://www.example.com/shop/other")
    assert goes(cookie, "https://www.example.com:8443/shop")
    assert not goes(cookie, "http://www.example.com/shopping")
    assert not goes(cookie, "http://example.com/shop/")
    assert not goes(cookie, "http://a.www.example.com/shop/")


@pytest.mark.parametrize("header", ["", "novalue", "=nameless", "a\x07=b", "a=b\x01", "a=né", "é=1", "a b=1"])
def test_what_could_not_be_sent_back_is_no_cookie(header: str) -> None:
    assert from_("http://example.com/", header) is None


def test_a_cookie_may_be_four_kilobytes_and_no_more() -> None:
    assert from_("http://example.com/", "n=" + "x" * (MAX_COOKIE - 1)) is not None
    assert from_("http://example.com/", "n=" + "x" * MAX_COOKIE) is None


def test_what_tells_a_cookie_from_others_is_short_enough_to_be_stored() -> None:
    assert from_("http://example.com/", "n" * 1_025 + "=1") is None
    assert from_(f"http://example.com/{'x' * 1_100}/y", "a=1") is None
    assert from_(f"http://example.com/{'x' * 1_100}/y", "a=1; Path=/") is not None


@pytest.mark.parametrize("said", ["example.com", ".example.com", "EXAMPLE.com", " example.com "])
def test_a_domain_holds_for_all_hosts_below_it(said: str) -> None:
    cookie = from_("http://www.example.com/", f"a=1; Domain={said}")
    assert goes(cookie, "http://example.com/")
    assert goes(cookie, "http://shop.example.com/")
    assert not goes(cookie, "http://badexample.com/")
    assert not goes(cookie, "http://example.com.evil.test/")


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.com", "other.com"),
        ("www.example.com", "shop.example.com"),
        ("www.example.com", "a.www.example.com"),
        ("www.example.com", "com"),
        ("www.example.co.uk", "co.uk"),
        ("me.github.io", "github.io"),
        ("www.city.kobe.jp", "kobe.jp"),
        ("127.0.0.1", "0.0.1"),
        ("127.0.0.1", "127.0.0.2"),
        ("[::1]", "1]"),
        ("example.com", "ample.com"),
        ("intranet", "net"),
    ],
)
def test_no_host_sets_cookies_for_strangers(host: str, domain: str) -> None:
    assert from_(f"http://{host}/", f"a=1; Domain={domain}") is None


@pytest.mark.parametrize("host", ["github.io", "localhost", "[::1]", "127.0.0.1"])
def test_a_domain_that_is_the_host_itself_is_allowed_and_holds_for_it_alone(host: str) -> None:
    cookie = from_(f"http://{host}/", f"a=1; Domain={host}")
    assert goes(cookie, f"http://{host}/")
    assert cookie is not None
    assert not cookie.belongs_to(f"stranger.{host}")


def test_an_empty_domain_or_a_relative_path_is_as_good_as_none() -> None:
    cookie = from_("http://example.com/a/b", "x=1; Domain=; Path=c")
    assert cookie is not None
    assert (cookie.host_only, cookie.path) == (True, "/a")


def test_of_two_attributes_the_last_counts_and_unknown_ones_don_t() -> None:
    cookie = from_("http://example.com/", "x=1; Path=/a; SameSite=Lax; HttpOnly; Priority=High; path=/b ; PATH=/c")
    assert cookie is not None
    assert cookie.path == "/c"


def test_a_secure_cookie_is_set_and_sent_over_https_only() -> None:
    assert from_("http://example.com/", "a=1; Secure") is None
    cookie = from_("https://example.com/", "a=1; Secure")
    assert goes(cookie, "https://example.com/")
    assert not goes(cookie, "http://example.com/")


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        ("__Secure-a=1; Secure", True),
        ("__Secure-a=1", False),
        ("__Host-a=1; Secure; Path=/", True),
        ("__Host-a=1; Secure; Path=/x", False),
        ("__Host-a=1; Secure; Path=/; Domain=example.com", False),
        ("__host-a=1; Path=/", False),
    ],
)
def test_a_name_that_makes_a_promise_keeps_it(header: str, kept: bool) -> None:
    assert (from_("https://www.example.com/", header) is not None) is kept


@pytest.mark.parametrize(
    ("attributes", "expires_at"),
    [
        ("", None),
        ("Max-Age=60", NOW + 60),
        ("Max-Age=0", 0.0),
        ("Max-Age=-5", 0.0),
        ("Max-Age=99999999999999999999", NOW + LONGEST_LIFE),
        pytest.param(f"Max-Age={'9' * 400}", NOW + LONGEST_LIFE, id="400 digits"),
        pytest.param(f"Max-Age=-{'9' * 401}", 0.0, id="minus 401 digits"),
        ("Max-Age=junk", None),
        ("Max-Age=1e3", None),
        ("Expires=Thu, 01 Jan 1970 00:01:40 GMT", 100.0),
        ("Expires=Fri, 31 Dec 9999 23:59:59 GMT", NOW + LONGEST_LIFE),
        ("Expires=yesterday", None),
        ("Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60", NOW + 60),
    ],
)
def test_a_cookie_lives_as_long_as_it_says(attributes: str, expires_at: float | None) -> None:
    cookie = from_("http://example.com/", f"a=1; {attributes}")
    assert cookie is not None
    assert cookie.expires_at == expires_at
    if expires_at:
        assert goes(cookie, "http://example.com/", expires_at - 1)
        assert not goes(cookie, "http://example.com/", expires_at)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Thu, 01 Jan 1970 00:00:10 GMT", 10.0),
        ("Thu, 01-Jan-1970 00:00:10 GMT", 10.0),
        ("Thursday, 01-Jan-70 00:00:10 GMT", 10.0),
        ("Thu Jan  1 00:00:10 1970", 10.0),
        ("1 january 1970 0:0:10", 10.0),
        ("00:00:10 1970 Jan 1", 10.0),
        ("Sun, 01 Jan 2023 00:00:00", 1_672_531_200.0),
        ("Sun, 01 Jan 23 00:00:00", 1_672_531_200.0),
        ("01 Jan 1601 00:00:00", -11_644_473_600.0),
        ("01 Jan 1600 00:00:00", None),
        ("30 Feb 2023 00:00:00", None),
        ("01 Jan 2023 24:00:00", None),
        ("01 Jan 2023", None),
        ("", None),
    ],
)
def test_dates_are_read_however_they_are_written(text: str, moment: float | None) -> None:
    assert parse_cookie_date(text) == moment


@given(st.text(max_size=200))
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    parse_cookie_date(text)
    cookie = received(text, resolve("https://www.example.com/a"), NOW)
    assert cookie is None or cookie.belongs_to("www.example.com")


def test_the_most_particular_path_comes_first_and_the_older_before_the_newer() -> None:
    cookies = [
        Cookie("a", "1", "h", "/"),
        Cookie("b", "2", "h", "/x/y"),
        Cookie("c", "3", "h", "/x"),
        Cookie("d", "4", "h"),
    ]
    assert [cookie.name for cookie in sent_to(resolve("http://h/x/y"), cookies, NOW)] == ["b", "c", "a", "d"]


def test_a_value_is_not_shown_where_a_cookie_is() -> None:
    assert "s3cret" not in repr(from_("http://example.com/", "token=s3cret"))


def test_the_domains_above_a_host_are_all_that_it_ends_with() -> None:
    assert domains_of("a.b.test") == ["a.b.test", "b.test", "test"]
    assert domains_of("[::1]") == ["[::1]"]
