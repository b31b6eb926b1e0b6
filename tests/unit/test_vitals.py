"""Health means progress: who exists, beats and does nothing although there is work, is found out."""

from __future__ import annotations

from tarantella.domain.vitals import Condition, Vigil, Vitals

LIMIT = 60.0


def test_a_worker_that_beats_and_has_nothing_to_do_is_idle_for_ever() -> None:
    vigil = Vigil(0.0, LIMIT)
    assert {vigil.observe(now, beat=int(now), vitals=Vitals()) for now in range(0, 10_000, 5)} == {Condition.IDLE}


def test_a_worker_that_gets_things_done_is_working_for_ever() -> None:
    vigil = Vigil(0.0, LIMIT)
    seen = {vigil.observe(now, int(now), Vitals(work=3, progress=int(now))) for now in range(0, 10_000, 5)}
    assert seen == {Condition.WORKING}


def test_a_worker_that_beats_with_work_and_without_progress_is_reported_then_given_up() -> None:
    vigil = Vigil(0.0, LIMIT)
    seen = [vigil.observe(now, int(now), Vitals(work=1, progress=7)) for now in range(0, 80, 10)]
    assert seen[:3] == [Condition.WORKING] * 3
    assert seen[3:6] == [Condition.SUSPECT] * 3
    assert seen[6] is Condition.STALLED


def test_a_worker_without_a_beat_is_given_up_whether_it_had_work_or_not() -> None:
    vigil = Vigil(0.0, LIMIT)
    vigil.observe(0.0, 1, Vitals())
    assert vigil.observe(59.0, 1, Vitals()) is Condition.SUSPECT
    assert vigil.observe(60.0, 1, Vitals()) is Condition.STALLED


def test_a_page_that_may_take_an_hour_is_no_stall() -> None:
    vigil = Vigil(0.0, LIMIT)
    slow = Vitals(work=1, progress=1, in_flight=1, patience=3_600.0)
    seen = {vigil.observe(now, int(now), slow) for now in range(0, 3_601, 5)}
    assert seen == {Condition.WORKING}


def test_one_thing_done_is_enough_to_begin_the_watch_anew() -> None:
    vigil = Vigil(0.0, LIMIT)
    for now in range(0, 55, 5):
        vigil.observe(now, now, Vitals(work=1, progress=1))
    assert vigil.observe(55.0, 55, Vitals(work=1, progress=2)) is Condition.WORKING
    assert vigil.observe(80.0, 80, Vitals(work=1, progress=2)) is Condition.WORKING


def test_work_that_has_just_come_is_given_the_whole_time() -> None:
    vigil = Vigil(0.0, LIMIT)
    for now in range(0, 1_000, 5):
        vigil.observe(now, now, Vitals())
    assert vigil.observe(1_005.0, 1_005, Vitals(work=1)) is Condition.WORKING
