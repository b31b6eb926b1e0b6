"""Addresses are read as browsers read them, and told apart by what they mean."""

from __future__ import annotations

import re
import time
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tarantella.domain.url import (
    MAX_LENGTH,
    Unfetchable,
    fingerprint,
    identity,
    redact,
    resolve,
    shown,
    start_url,
)

LETTERS = st.text(min_size=1, max_size=12)
PAIRS = st.lists(st.tuples(LETTERS, LETTERS), max_size=5)


@pytest.mark.parametrize(
    ("typed", "href"),
    [
        ("example.com", "https://example.com/"),
        ("  example.com/a b \n", "https://example.com/a%20b"),
        ("localhost:8000", "http://localhost:8000/"),
        ("app.localhost/x", "http://app.localhost/x"),
        ("localhost.example.com", "https://localhost.example.com/"),
        ("nas/x", "http://nas/x"),
        ("10.0.0.7:80/a", "http://10.0.0.7/a"),
        ("[::1]:8000", "http://[::1]:8000/"),
        ("example.com:8080/x?y#z", "https://example.com:8080/x?y"),
        ("HTTP://EXAMPLE.COM:80/A", "http://example.com/A"),
        ("https://example.com:443", "https://example.com/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("http://127.1/", "http://127.0.0.1/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0177.0.0.1/", "http://127.0.0.1/"),
        ("http://１２７.0.0.1/", "http://127.0.0.1/"),
        ("http://127.0.0.1\\@example.com/", "http://127.0.0.1/@example.com/"),
        ("http:\\\\example.com\\a", "http://example.com/a"),
        ("http:example.com:8080/x", "http://example.com:8080/x"),
        ("https:example.com", "https://example.com/"),
        ("https://bücher.example/straße", "https://xn--bcher-kva.example/stra%C3%9Fe"),
        ("https://ex%61mple.com/", "https://example.com/"),
        ("https://example.com/a/./b/../c/%2e%2e/d", "https://example.com/a/d"),
        ("https://example.com/../../x", "https://example.com/x"),
        ("https://example.com/#", "https://example.com/"),
        ("https://example.com/?#frag", "https://example.com/?"),
        ("http://[::ffff:127.0.0.1]:80/", "http://[::ffff:7f00:1]/"),
        ("http://[0:0::1]/", "http://[::1]/"),
        ("https://example.com/%zz", "https://example.com/%zz"),
    ],
)
def test_an_address_is_understood_as_a_browser_would(typed: str, href: str) -> None:
    assert start_url(typed).href == href


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("", "malformed"),
        ("   ", "malformed"),
        ("http://", "malformed"),
        ("https:///", "malformed"),
        ("http://exa mple.com/", "malformed"),
        ("http://example.com:99999/", "malformed"),
        ("http://[::1/", "malformed"),
        ("http://exam\0ple.com/", "malformed"),
        ("http://example.com/\0", "malformed"),
        ("http://example.com/a\r\nHost: evil", "malformed"),
        ("http://example.com/a\tb", "malformed"),
        ("http://%00/", "malformed"),
        ("http://1.2.3.4.5/", "malformed"),
        ("file:///etc/passwd", "scheme"),
        ("FILE:///etc/passwd", "scheme"),
        ("FtP://example.com/", "scheme"),
        ("gopher://example.com/", "scheme"),
        ("data:text/html,hello", "scheme"),
        ("JavaScript:alert(1)", "scheme"),
        ("javascript:1", "scheme"),
        ("tel:12345", "scheme"),
        ("mailto:me@example.com", "scheme"),
        ("view-source:https://example.com/", "scheme"),
        ("https://user:secret@example.com/", "credentials"),
        ("https://user@example.com/", "credentials"),
        ("https://:secret@example.com/", "credentials"),
        ("https://example.com/" + "x" * 2_000_000, "too_long"),
        ("https://example.com/" + "x" * MAX_LENGTH, "too_long"),
        ("https://example.com/" + "é" * (MAX_LENGTH // 4), "too_long"),
        ("user:secret@example.com/", "scheme"),
        ("http:user:secret@example.com/", "credentials"),
        ("https://" + "x" * 300 + ".example/", "malformed"),
    ],
)
def test_what_can_not_be_fetched_is_refused_with_a_reason(typed: str, reason: str) -> None:
    with pytest.raises(Unfetchable) as caught:
        start_url(typed)
    assert caught.value.reason == reason
    assert caught.value.code == "invalid_url"
    assert len(str(caught.value)) < 400
    assert "secret" not in str(caught.value)
    assert not re.search(r"[\0\r\n]", str(caught.value))


def test_a_link_with_credentials_is_followed_without_them() -> None:
    assert resolve("https://user:secret@example.com/a").href == "https://example.com/a"


@pytest.mark.parametrize(
    ("reference", "href"),
    [
        ("next", "https://example.com/a/next"),
        ("/top", "https://example.com/top"),
        ("//other.example/x", "https://other.example/x"),
        ("?q", "https://example.com/a/b?q"),
        ("#part", "https://example.com/a/b?c"),
        ("../..", "https://example.com/"),
        ("\\evil", "https://example.com/evil"),
        (" \tnext\n", "https://example.com/a/next"),
        ("ne\r\nxt", "https://example.com/a/next"),
        ("HTTP://Example.COM", "http://example.com/"),
    ],
)
def test_a_reference_leads_where_a_browser_would_go(reference: str, href: str) -> None:
    assert resolve(reference, "https://example.com/a/b?c#d").href == href


@pytest.mark.parametrize("reference", ["javascript:void(0)", "DATA:,x", "mailto:a@b", "blob:https://example.com/1"])
def test_a_reference_with_another_scheme_is_refused_as_such(reference: str) -> None:
    with pytest.raises(Unfetchable) as caught:
        resolve(reference, "https://example.com/")
    assert caught.value.reason == "scheme"


def test_a_relative_reference_can_be_too_long_for_its_base() -> None:
    with pytest.raises(Unfetchable) as caught:
        resolve("x" * 5_000, "https://example.com/" + "y" * 5_000 + "/")
    assert caught.value.reason == "too_long"


def test_a_server_has_its_port_only_where_that_is_an_odd_one() -> None:
    assert {resolve(f"{scheme}://Example.com/").server for scheme in ("http", "https")} == {"example.com"}
    assert resolve("http://example.com:8080/").server == "example.com:8080"
    assert resolve("http://[::1]:8080/").server == "[::1]:8080"


def test_a_lane_is_the_host_in_lower_case_without_port_or_final_dot() -> None:
    assert {
        resolve(text).lane for text in ("http://Example.com/", "https://example.com:8443/x", "http://example.com./")
    } == {"example.com"}
    assert resolve("http://example.com:8080/").origin == ("http", "example.com", 8080)
    assert resolve("https://example.com/").port == 443


SAME = [
    ("https://example.com/a#x", "https://example.com/a#y"),
    ("http://example.com:80/a", "http://example.com/a"),
    ("https://example.com/a/", "https://example.com/a"),
    ("https://example.com", "https://example.com/"),
    ("https://example.com/x/../a", "https://example.com/a"),
    ("https://example.com/a?b=1&c=2", "https://example.com/a?c=2&b=1"),
    ("https://example.com/a?b=1&utm_source=x&UTM_Medium=y", "https://example.com/a?b=1"),
    ("https://example.com/a?fbclid=abc&gclid=def", "https://example.com/a"),
    ("https://example.com/a?PHPSESSID=0a1b2c", "https://example.com/a"),
    ("https://example.com/a?sid=0123456789abcdef0123&b=1", "https://example.com/a?b=1"),
    ("https://example.com/a;jsessionid=0A1B?b=1", "https://example.com/a?b=1"),
    ("https://example.com/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "https://example.com/a.aspx"),
    ("https://example.com/b/(X(1)S(0123456789abcdef))/a", "https://example.com/b/a"),
    ("https://example.com/sid-0123456789abcdef0123/a", "https://example.com/a"),
    ("https://example.com/a/PHPSESSID=0123456789abcdef0123", "https://example.com/a"),
    ("https://example.com/a?oscSid=0123abc", "https://example.com/a"),
    ("https://example.com/a?", "https://example.com/a"),
    ("https://example.com/a?&&b=1&", "https://example.com/a?b=1"),
    ("https://EXAMPLE.com/a", "https://example.com/a"),
]
DIFFERENT = [
    ("https://example.com/a", "http://example.com/a"),
    ("https://example.com/a", "https://example.com/A"),
    ("https://example.com/a", "https://example.com:8443/a"),
    ("https://example.com/a", "https://www.example.com/a"),
    ("https://example.com/a?q=a%26b=c", "https://example.com/a?q=a&b=c"),
    ("https://example.com/a?q=a%3Db", "https://example.com/a?q=a=b"),
    ("https://example.com/a?q=%23x", "https://example.com/a?q="),
    ("https://example.com/a?q=a+b", "https://example.com/a?q=a%2Bb"),
    ("https://example.com/a%2Fb", "https://example.com/a/b"),
    ("https://example.com/a?q=1", "https://example.com/a?q=1&q=1"),
    ("https://example.com/a?q", "https://example.com/a?q="),
    ("https://example.com/a%3Fq", "https://example.com/a?q"),
    ("https://example.com/story?sid=1", "https://example.com/story?sid=2"),
    ("https://example.com/talk?session_id=12", "https://example.com/talk?session_id=13"),
    ("https://example.com/session-introductiontoweaving/a", "https://example.com/a"),
    ("https://example.com/session-1234/a", "https://example.com/a"),
    ("https://sid-0123456789abcdef0123/a", "https://a/"),
    ("https://example.com/(a)/b", "https://example.com/b"),
    ("https://example.com/a?xutm_source=1", "https://example.com/a?xutm_source=2"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_ways_to_write_one_address_are_one_page(one: str, other: str) -> None:
    assert fingerprint(resolve(one).href) == fingerprint(resolve(other).href)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_two_addresses_that_may_mean_different_pages_stay_two(one: str, other: str) -> None:
    assert fingerprint(resolve(one).href) != fingerprint(resolve(other).href)


@given(st.text(max_size=60), PAIRS)
@example("/a/;sid=1/..//", [("a", "")])
def test_resolving_twice_is_resolving_once(path: str, pairs: list[tuple[str, str]]) -> None:
    query = "&".join(f"{quote(name)}={quote(value)}" for name, value in pairs)
    try:
        once = resolve(f"https://example.com/{path}?{query}")
    except Unfetchable:
        return
    assert resolve(once.href) == once
    assert fingerprint(resolve(once.href).href) == fingerprint(once.href)


@given(PAIRS, PAIRS)
def test_different_queries_are_different_pages_however_they_are_escaped(
    one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    def href(pairs: list[tuple[str, str]]) -> str:
        # A name that is never noise, with all that could be mistaken for syntax escaped in it.
        return "https://example.com/?" + "&".join(f"x{quote(n, safe='')}={quote(v, safe='')}" for n, v in pairs)

    same = sorted(one) == sorted(other)
    assert (fingerprint(resolve(href(one)).href) == fingerprint(resolve(href(other)).href)) is same


@given(st.text(max_size=40))
def test_no_text_makes_the_parser_raise_anything_but_its_own_error(text: str) -> None:
    for parse in (start_url, resolve):
        try:
            found = parse(text)
        except Unfetchable as refusal:
            assert refusal.reason in {"malformed", "scheme", "credentials", "too_long"}
        else:
            assert found.scheme in {"http", "https"}
            assert found.host and "#" not in found.href and "@" not in found.href.split("/")[2]


def test_half_a_character_is_refused_or_escaped_but_not_a_crash() -> None:
    with pytest.raises(Unfetchable):
        resolve("https://example.com/\ud800")
    assert len(fingerprint("https://example.com/\ud800")) == 32


def test_a_fingerprint_is_short_and_the_identity_readable() -> None:
    assert re.fullmatch(r"[0-9a-f]{32}", fingerprint("https://example.com/"))
    assert identity("https://example.com/a/?utm_source=x&b=2&a=1") == "https://example.com/a?a=1&b=2"


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://example.com/?token=s3cret&a=1", "https://example.com/?token=***&a=1"),
        ("https://example.com/?a=1&Access_Token=s3cret", "https://example.com/?a=1&Access_Token=***"),
        ("https://example.com/?%74oken=s3cret", "https://example.com/?%74oken=***"),
        ("https://example.com/?token=s3=cr?et&b", "https://example.com/?token=***&b"),
        ("https://example.com/#access_token=s3cret&state=1", "https://example.com/#access_token=***&state=1"),
        ("https://example.com/?a=1#token=s3cret", "https://example.com/?a=1#token=***"),
        ("/go?to=https://x.example/?token=s3cret", "/go?to=https://x.example/?token=***"),
        ("https://user:s3cret@example.com/", "https://***@example.com/"),
        ("http://user:s3@cret@example.com:80/", "http://***@example.com:80/"),
        ("http:user:s3cret@example.com/", "http:***@example.com/"),
        ("HTTP:/user:s3cret@example.com/", "HTTP:/***@example.com/"),
        ("http:\\\\user:s3cret@example.com\\", "http:\\\\***@example.com\\"),
        ("see (ftp:s3cret@example.com)", "see (ftp:***@example.com)"),
        ("//user:s3cret@example.com/", "//***@example.com/"),
        ("https://example.com/@user?q=a@b", "https://example.com/@user?q=a@b"),
        ("https://example.com/?session_token=s3cret&jwt=s3cret", "https://example.com/?session_token=***&jwt=***"),
        (
            "https://example.com/a;token=s3cret/b;v=1?clientSecret=s3",
            "https://example.com/a;token=***/b;v=1?clientSecret=***",
        ),
        ("https://example.com/?monkey=banana", "https://example.com/?monkey=banana"),
        ("https://example.com/?token", "https://example.com/?token"),
        ("no address at all", "no address at all"),
    ],
)
def test_secrets_in_an_address_are_blotted_out(url: str, told: str) -> None:
    assert redact(url) == told


def test_redacting_an_address_made_to_be_slow_is_not() -> None:
    began = time.process_time()
    redact("https://" + "a@" * 200_000 + "?" * 200_000 + "a=?" * 200_000)
    assert time.process_time() - began < 2.0


def test_a_value_in_an_error_message_is_short_printable_and_without_secrets() -> None:
    told = shown("https://u:pw@example.com/\x1b[31m?token=abc" + "x" * 500)
    assert len(told) < 150
    assert told.isprintable()
    assert "abc" not in told and "pw" not in told
    assert shown("me:pw@example.com/") == "'***@example.com/'"
    assert shown("mailto:me@example.com") == "'mailto:me@example.com'"
