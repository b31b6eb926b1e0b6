"""The files below a folder: found lazily, without leaving it, and without passing over what can't be read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarantella.domain.errors import InvalidInput
from tarantella.services.inventory import inventory_at
from tarantella.services.inventory.contract import Found
from tarantella.services.inventory.disk import Disk


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "inventory"
    made.mkdir()
    return made


def put(path: Path, content: str = "{}") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def paths(disk: Disk, folder: str = "", depth: int | None = None) -> list[str]:
    return sorted(found.path for found in disk.list(folder, depth) if found.trouble is None)


def test_files_are_found_with_their_size_and_age(folder: Path) -> None:
    file = put(folder / "raw" / "a.json", "12345")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    assert list(Disk(folder).list("raw", 1)) == [Found("raw/a.json", 5, 1_000_000_000.0)]


def test_it_looks_only_where_it_is_told_to_and_as_deep(folder: Path) -> None:
    for name in ("a", "raw/b", "raw/x/c", "raw/x/y/d"):
        put(folder / name)
    disk = Disk(folder)
    assert paths(disk, "", 1) == ["a"]
    assert paths(disk, "raw", 1) == ["raw/b"]
    assert paths(disk, "raw", 2) == ["raw/b", "raw/x/c"]
    assert paths(disk) == ["a", "raw/b", "raw/x/c", "raw/x/y/d"]
    assert paths(disk, "raw/nowhere") == paths(disk, "a") == []
    assert disk.problems == []


def test_a_link_is_followed_within_and_not_out(folder: Path, tmp_path: Path) -> None:
    put(tmp_path / "outside" / "secret")
    put(folder / "stored" / "a")
    put(folder / "raw" / "x")
    (folder / "raw" / "within").symlink_to(folder / "stored")
    (folder / "raw" / "out").symlink_to(tmp_path / "outside")
    (folder / "raw" / "file").symlink_to(tmp_path / "outside" / "secret")
    (folder / "raw" / "gone").symlink_to(folder / "nowhere")
    disk = Disk(folder)
    found = {each.path: each.trouble for each in disk.list("raw", None)}
    assert found["raw/x"] is found["raw/within/a"] is None and len(found) == 3
    assert "leads out" in (found["raw/file"] or "")
    assert disk.problems == ["raw/out: a link leads out of the inventory, and is not followed"]


def test_what_is_too_deep_to_be_looked_at_is_no_problem(folder: Path, tmp_path: Path) -> None:
    put(folder / "raw" / "x")
    (folder / "raw" / "out").symlink_to(tmp_path)
    disk = Disk(folder)
    assert (paths(disk, "raw", 1), disk.problems) == (["raw/x"], [])


def test_a_beginning_that_is_a_link_out_is_not_followed(folder: Path, tmp_path: Path) -> None:
    put(tmp_path / "outside" / "a")
    (folder / "raw").symlink_to(tmp_path / "outside")
    disk = Disk(folder)
    assert (paths(disk, "raw", 1), len(disk.problems)) == ([], 1)


def test_links_that_lead_around_come_to_an_end(folder: Path) -> None:
    put(folder / "a" / "1")
    put(folder / "b" / "2")
    (folder / "a" / "to_b").symlink_to(folder / "b")
    (folder / "b" / "to_a").symlink_to(folder / "a")
    (folder / "a" / "up").symlink_to(folder)
    (folder / "a" / "self").symlink_to(folder / "a" / "self")
    disk = Disk(folder)
    assert paths(disk) == ["a/1", "a/to_b/2", "b/2", "b/to_a/1"]
    assert disk.problems == []


def test_an_inventory_may_be_a_link_itself(folder: Path, tmp_path: Path) -> None:
    put(folder / "a")
    (tmp_path / "link").symlink_to(folder)
    assert paths(Disk(tmp_path / "link")) == ["a"]


def test_a_name_that_is_no_text_is_no_trouble(folder: Path) -> None:
    try:
        (folder / os.fsdecode(b"\xff\xfe.json")).write_text("{}")
    except OSError:
        pytest.skip("this file system has only names that are text")
    assert len(paths(Disk(folder))) == 1


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder that is looked at as somebody for whom permissions count."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        root = os.geteuid() == 0
        if root:
            os.seteuid(65534)
        try:
            yield Path(name)
        finally:
            if root:
                os.seteuid(0)


def test_a_folder_that_can_not_be_read_is_a_problem_and_not_empty(unprivileged: Path) -> None:
    root = os.geteuid() == 65534
    if root:
        os.seteuid(0)
    put(unprivileged / "raw" / "closed" / "a")
    put(unprivileged / "raw" / "b")
    (unprivileged / "raw" / "closed").chmod(0o000)
    if root:
        os.seteuid(65534)
    disk = Disk(unprivileged)
    assert paths(disk, "raw") == ["raw/b"]
    assert disk.problems == ["raw/closed: Permission denied"]


def test_files_of_which_nothing_can_be_known_are_told(unprivileged: Path) -> None:
    root = os.geteuid() == 65534
    if root:
        os.seteuid(0)
    put(unprivileged / "raw" / "a")
    (unprivileged / "raw").chmod(0o644)  # its names can be read, and nothing else
    if root:
        os.seteuid(65534)
    [found] = Disk(unprivileged).list("raw", 1)
    assert (found.path, found.trouble) == ("raw/a", "Permission denied")


@pytest.mark.parametrize("place", ["nowhere", "file", "ftp://host/x", ""])
def test_what_is_no_folder_is_no_inventory(place: str) -> None:
    Path("file").write_text("")
    with pytest.raises(InvalidInput):
        inventory_at(place)
