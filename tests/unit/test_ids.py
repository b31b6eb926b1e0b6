"""Identifiers sort by when they were made."""

from __future__ import annotations

import threading
from uuid import UUID

from tarantella.store.ids import LENGTH, new_id


def test_identifiers_come_in_the_order_in_which_they_were_made() -> None:
    made = [new_id() for _ in range(20_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert {UUID(each).version for each in made} == {7}
    assert {len(each) for each in made} == {LENGTH}


def test_threads_get_different_ones() -> None:
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.extend(new_id() for _ in range(5_000))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 40_000
