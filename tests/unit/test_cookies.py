"""Cookies are read from what browsers export, and sent only where they belong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarantella.domain.cookie import Cookie
from tarantella.domain.errors import InvalidInput
from tarantella.domain.url import resolve
from tarantella.fetchers.cookies import cookie_pairs, matching, read_cookies

NOW = 1_000_000.0
ALL = "# Netscape HTTP Cookie File\n\n.example.com\tTRUE\t/\tFALSE\t0\tsession\tabc=1\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "cookies.txt"
    path.write_text(text, encoding="utf-8")
    return path


def cookie(domain: str = "example.com", path: str = "/", secure: str = "false") -> dict[str, str]:
    return {"domain": domain, "path": path, "name": "a", "value": "1", "secure": secure}


def goes_to(href: str, **about: str) -> bool:
    return bool(matching(resolve(href), [cookie(**about)]))


def test_an_export_is_read_with_its_domains_and_flags(tmp_path: Path) -> None:
    text = ALL + "#HttpOnly_example.com\tFALSE\t/shop\tTRUE\t2000000\ttoken\t\r\nother.org\tFALSE\t/\tFALSE\t0\tn\n"
    assert read_cookies(write(tmp_path, text), NOW) == (
        {"domain": ".example.com", "path": "/", "name": "session", "value": "abc=1", "secure": "false"},
        {"domain": "example.com", "path": "/shop", "name": "token", "value": "", "secure": "true"},
        {"domain": "other.org", "path": "/", "name": "n", "value": "", "secure": "false"},
    )


def test_expired_cookies_are_left_out_and_an_export_of_nothing_else_is_refused(tmp_path: Path) -> None:
    old = "example.com\tFALSE\t/\tFALSE\t999999\told\t1\n"
    assert [each["name"] for each in read_cookies(write(tmp_path, ALL + old), NOW)] == ["session"]
    with pytest.raises(InvalidInput, match="All 1 cookies in .* have expired. Log in"):
        read_cookies(write(tmp_path, old), NOW)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("example.com FALSE / FALSE 0 a b", "Line 4 .* 1 tab-separated fields instead of 7"),
        ("example.com\tFALSE\t/\tFALSE\ttomorrow\ta\tb", "Line 4 .* 'tomorrow' as the expiry"),
        ("example.com\tFALSE\t/\tFALSE\t0\ta;b\tc", "Line 4 .* can't be sent"),
        ("example.com\tFALSE\t/\tFALSE\t0\ta\tb\x07", "Line 4 .* can't be sent"),
        ("\tFALSE\t/\tFALSE\t0\ta\tb", "Line 4 .* can't be sent"),
        ("example.com\tFALSE\t/\tFALSE\t0\t\tb", "Line 4 .* can't be sent"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint) as caught:
        read_cookies(write(tmp_path, ALL + line + "\n"), NOW)
    assert caught.value.field == "cookies_file"


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="can't be read: No such file"):
        read_cookies(tmp_path / "missing.txt")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="not a text file"):
        read_cookies(tmp_path / "binary")


def test_a_cookie_goes_to_its_host_alone_unless_its_domain_begins_with_a_dot() -> None:
    assert goes_to("http://example.com/")
    assert not goes_to("http://www.example.com/")
    assert goes_to("http://www.example.com/", domain=".example.com")
    assert goes_to("http://example.com/", domain=".example.com")
    assert not goes_to("http://badexample.com/", domain=".example.com")
    assert not goes_to("http://example.com.evil.test/", domain=".example.com")
    assert not goes_to("http://example.com/", domain="")


def test_a_cookie_goes_below_its_path_and_not_beside_it() -> None:
    assert goes_to("http://example.com/shop", path="/shop")
    assert goes_to("http://example.com/shop/item?x=/", path="/shop")
    assert goes_to("http://example.com/shop/item", path="/shop/")
    assert not goes_to("http://example.com/shopping", path="/shop")
    assert not goes_to("http://example.com/?x=/shop", path="/shop")


def test_a_secure_cookie_is_not_sent_in_the_clear() -> None:
    assert goes_to("https://example.com/", secure="true")
    assert not goes_to("http://example.com/", secure="true")


def test_a_site_s_own_cookie_takes_the_place_of_the_user_s_with_its_name() -> None:
    url, given = resolve("http://example.com/shop/x"), [cookie(), {**cookie(), "name": "b"}]
    kept = [Cookie("a", "2", "example.com"), Cookie("c", "3", "example.com", "/shop"), Cookie("d", "4", "other.com")]
    assert cookie_pairs(url, given, kept, NOW) == ["b=1", "c=3", "a=2"]
    assert cookie_pairs(url, given, [Cookie("a", "2", "example.com", expires_at=NOW)], NOW) == ["a=1", "b=1"]


def test_no_more_cookies_are_sent_than_a_server_takes() -> None:
    bomb = [Cookie(f"c{number:02}", "x" * 3_500, "example.com") for number in range(90)]
    kept = [Cookie("a", "1", "example.com", path="/deep/"), *bomb, Cookie("z", "1", "example.com")]
    pairs = cookie_pairs(resolve("https://example.com/deep/"), [], kept, NOW)
    assert len("; ".join(pairs)) <= 8_000
    assert [pair.partition("=")[0] for pair in pairs] == ["a", "c00", "c01", "z"]
