"""Numbers, times and addresses as people read them."""

from __future__ import annotations

import pytest

from tarantella.cli import words
from tarantella.domain.run import Counts


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.04, "0.0 s"), (0.84, "0.8 s"), (9.96, "10 s"), (42, "42 s"), (59.6, "1 min 0 s"), (192, "3 min 12 s")]
    + [(7_500, "2 h 5 min"), (3 * 86_400 + 4 * 3_600, "3 d 4 h"), (-1, "0.0 s")],
)
def test_a_duration_is_as_exact_as_it_is_useful(seconds: float, told: str) -> None:
    assert words.duration(seconds) == told


@pytest.mark.parametrize(
    ("soonest", "latest", "told"),
    [(1, 4, "ETA a few seconds"), (9, 38, "ETA 9–38 s"), (130, 245, "ETA 2–4 min"), (60, 95, "ETA 1–2 min")]
    + [(170, 190, "ETA 3 min"), (4_000, 9_000, "ETA 1–2 h"), (1, 100, "ETA 1–2 min")],
)
def test_an_eta_is_a_range_in_one_unit(soonest: float, latest: float, told: str) -> None:
    assert words.eta(soonest, latest) == told


@pytest.mark.parametrize(("number", "told"), [(0, "0 B"), (999, "999 B"), (1_500, "1.5 kB"), (2_100_000, "2.1 MB")])
def test_sizes_have_units(number: int, told: str) -> None:
    assert words.size(number) == told


def test_a_long_address_keeps_its_beginning_and_its_end() -> None:
    url = "https://example.com/" + "a/" * 100 + "the-page.html"
    short = words.short_url(url, 40)
    assert len(short) == 40
    assert short.startswith("example.com")
    assert short.endswith("the-page.html")
    assert "…" not in words.short_url(url, 40, "...")
    assert words.short_url("http://example.com/a", 40) == "example.com/a"


def test_text_from_a_site_can_not_move_the_cursor_or_show_a_secret() -> None:
    told = words.clean("http://u:hunter2@x.com/\x1b[2J\r\n?token=hunter2")
    assert "\x1b" not in told
    assert "\n" not in told
    assert "hunter2" not in told


def test_the_sum_of_pages_shows_pending_only_where_there_are_some() -> None:
    assert words.sum_of(Counts(5, 3, 1, 1, 0)) == "5 = 3 done + 1 failed + 1 skipped"
    assert words.sum_of(Counts(3, 3, 0, 0, 0)) == "3 = 3 done + 0 failed + 0 skipped"
    assert words.sum_of(Counts(1_006, 3, 1, 1, 1_001)) == "1,006 = 3 done + 1 failed + 1 skipped + 1,001 pending"


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.com/a?b", "example.com"),
        ("http://u:p@h:8080/", "h:8080"),
        ("https://example.com?x=1", "example.com"),
    ],
)
def test_the_host_of_an_address_has_its_port_and_nothing_else(url: str, host: str) -> None:
    assert words.host_of(url) == host
