"""Which addresses belong to a run."""

from __future__ import annotations

import time

import pytest

from tarantella.domain.scope import Scope, ScopeKind, kept_out_by, registrable_domain
from tarantella.domain.url import resolve


def scope(kind: ScopeKind, *roots: str, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> Scope:
    return Scope.of(kind, [resolve(root) for root in roots], include, exclude)


def contains(found: Scope, address: str) -> bool:
    return found.contains(resolve(address))


@pytest.mark.parametrize(
    ("kind", "root", "inside", "outside"),
    [
        (
            ScopeKind.HOST,
            "https://www.example.com/docs/",
            [
                "https://www.example.com/",
                "http://www.example.com/x",
                "https://WWW.EXAMPLE.COM:443/y",
                "https://www.example.com./z",
            ],
            [
                "https://example.com/",
                "https://docs.example.com/",
                "https://www.example.com:8443/",
                "https://www.example.org/",
            ],
        ),
        (
            ScopeKind.HOST,
            "http://127.0.0.1:8000/",
            ["http://127.0.0.1:8000/a", "http://127.1:8000/b"],
            ["http://127.0.0.1:8001/", "http://127.0.0.1/", "http://127.0.0.2:8000/"],
        ),
        (
            ScopeKind.DOMAIN,
            "https://news.example.co.uk/",
            ["https://example.co.uk/", "http://a.b.example.co.uk:8080/x"],
            ["https://other.co.uk/", "https://co.uk/", "https://example.com/", "https://notexample.co.uk/"],
        ),
        (
            ScopeKind.DOMAIN,
            "http://127.0.0.1:8000/",
            ["http://127.0.0.1:9000/"],
            ["http://127.0.0.2/", "http://0.0.1/"],
        ),
        (
            ScopeKind.DOMAIN,
            "http://localhost/",
            ["http://localhost:1/"],
            ["http://elsewhere/"],
        ),
        (
            ScopeKind.PATH,
            "https://example.com/docs/intro.html?page=a/b",
            [
                "https://example.com/docs/",
                "https://example.com/docs/deep/er?x=1",
                "http://example.com/docs/over-http",
                "https://example.com/docs/../docs/x",
            ],
            [
                "https://example.com/docs",
                "https://example.com/docs2/",
                "https://example.com/docs/../secret",
                "https://www.example.com/docs/",
                "https://example.com:8443/docs/",
                "https://example.com/?to=/docs/",
            ],
        ),
        (ScopeKind.PATH, "https://example.com", ["https://example.com/x"], ["https://example.org/"]),
        (ScopeKind.ANY, "https://example.com/", ["https://example.org/", "http://[::1]/"], []),
    ],
)
def test_a_scope_is_drawn_around_its_root(kind: ScopeKind, root: str, inside: list[str], outside: list[str]) -> None:
    found = scope(kind, root)
    assert [address for address in inside if not contains(found, address)] == []
    assert [address for address in outside if contains(found, address)] == []


def test_several_roots_draw_several_circles() -> None:
    found = scope(ScopeKind.PATH, "https://a.example/one/", "https://b.example/two/")
    assert contains(found, "https://a.example/one/x") and contains(found, "https://b.example/two/x")
    assert not contains(found, "https://a.example/two/x")


def test_include_and_exclude_narrow_a_scope_and_exclude_wins() -> None:
    found = scope(ScopeKind.HOST, "https://example.com/", include=("*/blog/*", "*/news/*"), exclude=("*/tag/*",))
    assert contains(found, "https://example.com/blog/a")
    assert contains(found, "https://example.com/news/b?c=1")
    assert not contains(found, "https://example.com/shop/a")
    assert not contains(found, "https://example.com/blog/tag/a")
    assert not contains(found, "https://example.org/blog/a")


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("https://example.com/blog/a", None),
        ("https://example.com/blog/tag/a", ("The pattern '*/tag/*' excludes it", "other patterns to exclude")),
        ("https://example.com/shop/a", ("No pattern to include matches it", "other patterns to include")),
        (
            "https://example.org/blog/a",
            ("It is outside the scope, which is the host of a start address", "another scope"),
        ),
    ],
)
def test_what_keeps_an_address_out_can_be_told(address: str, told: tuple[str, str] | None) -> None:
    include, exclude = ("*/blog/*", "*/news/*"), ("*/old/*", "*/tag/*")
    roots = [resolve("https://example.com/")]
    assert kept_out_by(ScopeKind.HOST, roots, include, exclude, resolve(address)) == told
    assert contains(Scope.of(ScopeKind.HOST, roots, include, exclude), address) == (told is None)


def test_a_pattern_means_the_whole_address_and_every_case_of_it() -> None:
    found = scope(ScopeKind.ANY, "https://example.com/", include=("https://example.com/a?c",))
    assert contains(found, "https://example.com/abc")
    assert not contains(found, "https://example.com/abcd")
    assert not contains(found, "https://example.com/ABC")


def test_a_pattern_made_to_be_slow_is_not() -> None:
    found = scope(ScopeKind.ANY, "https://example.com/", exclude=("*a*" * 40 + "b",))
    began = time.process_time()
    assert contains(found, "https://example.com/" + "a" * 5_000)
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("news.example.co.uk", "example.co.uk"),
        ("example.com", "example.com"),
        ("co.uk", "co.uk"),
        ("me.github.io", "me.github.io"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("localhost", "localhost"),
        ("xn--bcher-kva.example.com", "example.com"),
    ],
)
def test_the_registrable_domain_is_what_somebody_registered(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain
