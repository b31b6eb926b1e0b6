"""Several engines fill one cache."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

from tarantella.fetchers.cache import Cache, Entry


def key(number: int) -> str:
    return f"{number:032x}"


def _write_many(folder: Path) -> None:
    cache = Cache(folder, 300_000)
    for number in range(200):
        entry = Entry(f"http://h/{number % 20}", 200, {}, 0.0, body=os.urandom(10_000))
        cache.put(key(number % 20), entry)
        found = cache.get(key(number * 7 % 20))
        assert found is None or found.url == f"http://h/{number * 7 % 20}"


def test_processes_that_write_the_same_answers_at_once_never_read_half_of_one(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_many, args=(tmp_path,)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert not list(tmp_path.glob("*/.*.tmp"))
