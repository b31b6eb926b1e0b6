"""Who may ask what of the control plane."""

from __future__ import annotations

import pytest

from tarantella.domain.access import Scope, comes_from_elsewhere, host_is_known, scope_needed

NAMES = {"box", "tarantella.example.com"}


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8000",
        "localhost.",
        "127.0.0.1",
        "127.0.0.1:8000",
        "[::1]",
        "[::1]:8000",
        "192.168.1.7:8000",
        "box:8000",
        "Tarantella.Example.COM",
    ],
)
def test_addresses_and_known_names_are_answered(host: str) -> None:
    assert host_is_known(host, NAMES)


@pytest.mark.parametrize(
    "host",
    [
        "",
        " ",
        ":8000",
        "evil.example",
        "evil.example:8000",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "localhost:80:80",
        "localhost:port",
        "localhost@evil.example",
        "[::1",
        "[::1]evil",
        "127.1",
        "0x7f.1",
        "box,localhost",
        "locälhost",
    ],
)
def test_other_names_are_not_whatever_they_lead_to(host: str) -> None:
    assert not host_is_known(host, NAMES)


@pytest.mark.parametrize(
    ("method", "path", "needed"),
    [
        ("GET", "/health", None),
        ("HEAD", "/readyz", None),
        ("GET", "/health/", Scope.READ),
        ("GET", "/healthz/..", Scope.READ),
        ("GET", "/HEALTH", Scope.READ),
        ("POST", "/health", Scope.WRITE),
        ("GET", "/metrics", Scope.READ),
        ("GET", "/docs", Scope.READ),
        ("GET", "/sites", Scope.READ),
        ("POST", "/jobs", Scope.WRITE),
        ("DELETE", "/scraping/tasks/x", Scope.WRITE),
        ("PATCH", "/sites/example.com", Scope.ADMIN),
        ("POST", "/sites/example.com/reset-breaker", Scope.ADMIN),
        ("BREW", "/anything", Scope.WRITE),
    ],
)
def test_every_request_needs_a_scope_but_for_health_by_exact_match(
    method: str, path: str, needed: Scope | None
) -> None:
    assert scope_needed(method, path) is needed


@pytest.mark.parametrize(
    ("origin", "site", "elsewhere"),
    [
        (None, None, False),
        ("http://127.0.0.1:8000", None, False),
        ("http://127.0.0.1:8000", "same-origin", False),
        (None, "none", False),
        ("http://127.0.0.1:9000", None, True),
        ("https://evil.example", None, True),
        ("null", None, True),
        ("", None, True),
        (None, "cross-site", True),
        (None, "same-site", True),
    ],
)
def test_pages_of_other_web_sites_are_told_apart(origin: str | None, site: str | None, elsewhere: bool) -> None:
    assert comes_from_elsewhere(origin, "127.0.0.1:8000", site) is elsewhere
