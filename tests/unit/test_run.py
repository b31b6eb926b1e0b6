"""A run's states, how it ends, and whose turn it is."""

from __future__ import annotations

from itertools import product

import pytest

from tarantella.domain.page import INCOMPLETE_SKIPS, PAGE_TRANSITIONS, PageState, Skip
from tarantella.domain.run import (
    RUN_TRANSITIONS,
    TERMINAL,
    Counts,
    Priority,
    RunStatus,
    Wanted,
    admission_rank,
    room_for_pages,
    terminal_status,
)

S = RunStatus


@pytest.mark.parametrize(
    ("counts", "partial_ok", "expected"),
    [
        (Counts(total=3, done=3), True, S.COMPLETED),
        (Counts(total=3, done=2, failed=1), True, S.PARTIAL),
        (Counts(total=3, done=2, failed=1), False, S.FAILED),
        (Counts(total=1, failed=1), True, S.FAILED),
        (Counts(total=1, failed=1), False, S.FAILED),
        # robots, scope, max_pages, duplicate, content_type: nothing that was asked for is missing
        (Counts(total=5, done=1, skipped=4), True, S.COMPLETED),
        (Counts(total=5, done=1, skipped=4), False, S.COMPLETED),
        (Counts(total=1, skipped=1), True, S.COMPLETED),
        # deadline, cancel, dead host, robots.txt that can't be read: something is
        (Counts(total=5, done=1, skipped=4, incomplete=1), True, S.PARTIAL),
        (Counts(total=5, done=1, skipped=4, incomplete=4), False, S.FAILED),
        (Counts(total=4, skipped=4, incomplete=1), True, S.FAILED),
    ],
)
def test_how_a_run_ended_is_computed_from_its_counts(counts: Counts, partial_ok: bool, expected: RunStatus) -> None:
    assert terminal_status(counts, Wanted.RUN, partial_ok=partial_ok) is expected


@pytest.mark.parametrize("counts", [Counts(total=2, done=2), Counts(total=2, failed=2), Counts(total=2, skipped=2)])
def test_a_run_that_was_to_be_cancelled_ends_cancelled_whatever_it_got(counts: Counts) -> None:
    assert terminal_status(counts, Wanted.CANCEL, partial_ok=True) is S.CANCELLED


def test_a_pause_that_came_too_late_does_not_change_how_a_run_ended() -> None:
    assert terminal_status(Counts(total=1, done=1), Wanted.PAUSE, partial_ok=True) is S.COMPLETED


def test_every_terminal_status_can_be_reached_and_no_live_one_is_given() -> None:
    numbers = product(range(3), repeat=4)
    given = {
        terminal_status(Counts(sum(n), n[0], n[1], n[2] + n[3], 0, n[3]), wanted, partial_ok=ok)
        for n in numbers
        for wanted in Wanted
        for ok in (True, False)
    }
    assert given == TERMINAL


def test_only_retry_failed_leads_out_of_an_end() -> None:
    assert RUN_TRANSITIONS[S.COMPLETED] == frozenset()
    for status in TERMINAL - {S.COMPLETED}:
        assert RUN_TRANSITIONS[status] == {S.QUEUED}


def test_every_live_run_can_be_cancelled_and_paused_or_resumed() -> None:
    assert set(RUN_TRANSITIONS) == set(RunStatus)
    for status in frozenset(RunStatus) - TERMINAL:
        assert S.CANCELLED in RUN_TRANSITIONS[status]
    assert S.PAUSED in RUN_TRANSITIONS[S.QUEUED] & RUN_TRANSITIONS[S.RUNNING]
    assert S.QUEUED in RUN_TRANSITIONS[S.PAUSED]


def test_a_page_that_is_done_stays_done() -> None:
    assert PAGE_TRANSITIONS[PageState.DONE] == frozenset()
    assert PAGE_TRANSITIONS[PageState.FAILED] == PAGE_TRANSITIONS[PageState.SKIPPED] == {PageState.PENDING}
    assert set(PAGE_TRANSITIONS) == set(PageState)


def test_skips_that_the_user_wanted_are_not_counted_as_incomplete() -> None:
    wanted = {Skip.ROBOTS, Skip.SCOPE, Skip.MAX_PAGES, Skip.DUPLICATE, Skip.CONTENT_TYPE, Skip.SITEMAP, Skip.NO_SITEMAP}
    assert set(Skip) - wanted == INCOMPLETE_SKIPS


def test_each_priority_is_worth_ten_minutes_of_age() -> None:
    ranks = [admission_rank(0.0, priority) for priority in Priority]
    assert ranks == [0.0, 600.0, 1_200.0, 1_800.0]
    assert [priority.name for priority in sorted(Priority)] == ["CRITICAL", "HIGH", "MEDIUM", "LOW"]


def test_a_low_run_is_overtaken_for_half_an_hour_at_most() -> None:
    low = admission_rank(0.0, Priority.LOW)
    assert admission_rank(1_799.0, Priority.CRITICAL) < low
    assert admission_rank(1_801.0, Priority.CRITICAL) > low


def test_pages_without_room_and_sitemaps_take_none_of_it() -> None:
    assert room_for_pages(10, total=0, surplus=0, sitemaps=0) == 10
    assert room_for_pages(10, total=9, surplus=0, sitemaps=2) == 3
    assert room_for_pages(10, total=25, surplus=15, sitemaps=0) == 0
    assert room_for_pages(10, total=25, surplus=0, sitemaps=0) == 0
