"""A host in parts: pages are spread, and all parts together keep what the host may be asked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tarantella.domain.parts import host_of, in_use, lane_for, part_of, share

PARTS, LIMITS = st.integers(1, 64), st.integers(1, 1_000)


@given(PARTS, LIMITS)
def test_the_shares_of_all_parts_are_what_the_host_may_be_asked(parts: int, limit: int) -> None:
    used = in_use(parts, limit)
    shares = [share(limit, parts, part) for part in range(used)]
    assert sum(shares) == limit
    assert max(shares) - min(shares) <= 1


@given(st.text("0123456789abcdef", min_size=32, max_size=32), PARTS, LIMITS)
def test_a_page_is_always_in_the_same_part_and_every_part_knows_its_host(mark: str, parts: int, limit: int) -> None:
    lane = lane_for("a.example", mark, parts, limit)
    assert lane == lane_for("a.example", mark, parts, limit)
    assert host_of(lane) == "a.example"
    assert 0 <= part_of(lane) < in_use(parts, limit)


def test_pages_are_spread_evenly_and_the_first_part_is_the_host_itself() -> None:
    lanes = [lane_for("a.example", f"{number:032x}", 4, 8) for number in range(4_000)]
    assert {lane: lanes.count(lane) > 800 for lane in set(lanes)} == dict.fromkeys(
        ["a.example", "a.example#1", "a.example#2", "a.example#3"], True
    )


def test_a_run_that_allows_one_request_is_not_spread() -> None:
    assert {lane_for("a.example", f"{number:032x}", 4, 1) for number in range(50)} == {"a.example"}
