"""Cookies are read from what browsers export, and sent only where they belong."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from wreq import Cookie

from tarantella.domain.errors import InvalidInput
from tarantella.domain.url import resolve
from tarantella.fetchers.cookies import MAX_COLLECTED, Collected, matching, read_cookies

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


def test_what_a_host_sets_on_the_way_is_kept_replaced_and_deleted() -> None:
    page, jar = resolve("http://example.com/a/b"), Collected()
    jar.take(page, [Cookie("x", "1", path="/"), Cookie("deep", "1")], NOW)
    jar.take(page, [Cookie("x", "2", path="/")], NOW)
    assert matching(page, jar) == {"deep": "1", "x": "2"}
    assert matching(resolve("http://example.com/c"), jar) == {"x": "2"}
    jar.take(page, [Cookie("x", "", path="/", max_age=timedelta(0))], NOW)
    assert matching(page, jar) == {"deep": "1"}


def test_what_a_host_has_no_right_to_set_is_ignored() -> None:
    page, jar = resolve("http://www.example.com/"), Collected()
    jar.take(page, [Cookie("a", "1", domain="other.com"), Cookie("b", "1", domain="shop.example.com")], NOW)
    jar.take(page, [Cookie("c", "1", secure=True), Cookie("d", "x" * 5000), Cookie("e", "né")], NOW)
    assert matching(resolve("https://www.example.com/"), jar) == {}
    jar.take(page, [Cookie("ok", "1", domain="example.com")], NOW)
    assert matching(page, jar) == {"ok": "1"}
    assert matching(resolve("http://example.com/"), jar) == {}


def test_a_host_that_sets_cookies_without_end_is_stopped() -> None:
    page, jar = resolve("http://example.com/"), Collected()
    jar.take(page, [Cookie(f"n{number}", "1") for number in range(1000)], NOW)
    assert len(matching(page, jar)) == MAX_COLLECTED
