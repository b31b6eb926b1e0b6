"""The cache gives back what it was given or nothing, whoever writes to it meanwhile, and never grows too large."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tarantella.domain.struct import replace
from tarantella.fetchers.cache import Cache, Entry, Summary

KEY = "0123456789abcdef0123456789abcdef"
ENTRY = Entry("http://h/x", 200, {"content-type": "text/html"}, 1_000.0, 1, None, b"\x00body\n" * 1_000)
ROOM = 100_000_000


def key(number: int) -> str:
    return f"{number:032x}"


def the_file(folder: Path) -> Path:
    [path] = folder.glob("*/*.page")
    return path


def noise(number: int, size: int = 10_000) -> Entry:
    """An entry that does not get smaller when it is packed."""
    return replace(ENTRY, url=f"http://h/{number}", body=os.urandom(size))


def test_what_was_put_comes_back(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "new", ROOM)
    assert cache.get(KEY) is None
    cache.put(KEY, ENTRY)
    assert cache.get(KEY) == ENTRY
    moved = Entry("http://h/x", 302, {}, 2_000.0, 0, "http://other/")
    cache.put(KEY, moved)
    assert Cache(tmp_path / "new", ROOM).get(KEY) == moved
    assert the_file(tmp_path / "new").stat().st_size < len(ENTRY.body) / 10


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    Cache(tmp_path / "new", ROOM).put(KEY, ENTRY)
    path = the_file(tmp_path / "new")
    assert [each.stat().st_mode & 0o777 for each in (path, path.parent, tmp_path / "new")] == [0o600, 0o700, 0o700]


@pytest.mark.parametrize("how", ["cut", "empty", "flipped", "junk", "another version", "a folder"])
def test_what_was_damaged_is_ignored_and_replaced(tmp_path: Path, how: str) -> None:
    cache = Cache(tmp_path, ROOM)
    cache.put(KEY, ENTRY)
    path = the_file(tmp_path)
    data = path.read_bytes()
    if how == "a folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(
            {
                "cut": data[:-1],
                "empty": b"",
                "flipped": data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
                "junk": b"junk",
                "another version": b"tarantella 9" + data[12:],
            }[how]
        )
    assert cache.get(KEY) is None
    if how != "a folder":
        cache.put(KEY, ENTRY)
        assert cache.get(KEY) == ENTRY


def test_of_too_much_the_longest_unused_goes(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 100_000)
    for number in range(9):
        cache.put(key(number), noise(number))
        os.utime(cache._path(key(number)), (number, number))
    assert cache.get(key(0)) is not None  # which makes it the one that was used last
    for number in range(9, 12):
        cache.put(key(number), noise(number))
    kept = [number for number in range(12) if cache._path(key(number)).exists()]
    assert 0 in kept
    assert 1 not in kept
    assert kept[-3:] == [9, 10, 11]
    assert cache.summary().bytes <= 100_000


def test_it_stays_small_however_much_is_put(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 500_000)
    for number in range(150):
        cache.put(key(number), noise(number))
    assert cache.summary().bytes <= 500_000 * 17 / 16


def test_what_a_killed_process_left_half_written_is_swept_up_later(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 100_000)
    cache.put(KEY, ENTRY)
    old, new = (the_file(tmp_path).with_name(f".{KEY[2:]}.{number}.0.tmp") for number in (1, 2))
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    cache.put(key(1), noise(1))
    assert (old.exists(), new.exists()) == (False, True)
    assert cache.summary().entries == 2


def test_clearing_removes_what_is_ours_and_nothing_else(tmp_path: Path) -> None:
    cache = Cache(tmp_path, ROOM)
    cache.put(KEY, ENTRY)
    cache.put(key(1), ENTRY)
    mine = [tmp_path / "thesis.doc", tmp_path / "01" / "thesis.page", tmp_path / "zz" / f"{KEY[2:]}.page"]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"mine")
    gone = cache.clear()
    assert (gone.entries, gone.oldest is not None) == (2, True)
    assert all(path.exists() for path in mine)
    assert cache.summary() == Summary()
    assert Cache(tmp_path / "never", ROOM).clear() == Summary()


def test_a_folder_that_can_t_be_written_costs_the_cache_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    cache = Cache(tmp_path / "file", ROOM)
    cache.put(KEY, ENTRY)
    assert cache.get(KEY) is None
