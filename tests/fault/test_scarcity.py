"""The disk is full, the store is held by another program, file descriptors run out: a command says so, goes on when it can, loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.fault.commands import tarantella
from tests.fault.invariants import check, read_run
from tests.fault.locking import locked
from tests.fault.processes import Child, SiteProcess, until
from tests.site import tree_path, tree_paths

DEPTH, FAN, DELAY_MS = 3, 4, 50
RULES = ("--depth", "all", "--allow-network", "127.0.0.0/8")
SMALL_DISK = "3m"


def start_url(site: SiteProcess) -> str:
    return site.url_for(tree_path(DEPTH, FAN, (), DELAY_MS))


def all_urls(site: SiteProcess) -> set[str]:
    return {site.url_for(path) for path in tree_paths(DEPTH, FAN, DELAY_MS)}


def assert_complete(data_dir: Path, site: SiteProcess) -> None:
    run = read_run(data_dir)
    assert (run.status, run.done) == ("completed", all_urls(site))
    check(data_dir, at_rest=True)


# -- a full disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("Only root can mount a small disk.")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs", str(disk)], check=False)
    if mounted.returncode:
        pytest.skip("Nothing can be mounted here.")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


@contextmanager
def filled(disk: Path) -> Iterator[None]:
    """Somebody else has used the rest of it."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4_096))
    yield
    ballast.unlink()


def until_it_says(child: Child, text: str) -> None:
    until(lambda: text in child.errors or not child.is_running, 30, f"{text!r} was not said")
    assert text in child.errors


def test_a_crawl_waits_while_the_disk_is_full_says_so_and_goes_on(site: SiteProcess, small_disk: Path) -> None:
    data_dir = small_disk / "data"
    with tarantella(data_dir, "scrape", start_url(site), *RULES) as child:
        until(lambda: len(site.hits()) > 10, 30, "nothing is fetched")
        with filled(small_disk):
            until_it_says(child, f"There is no room left for {data_dir / 'tarantella.db'}.")
            until(lambda: site.log()["in_flight"] == 0, 10, "something is still in flight")
            before = site.hits()
            assert len(before) < len(all_urls(site))
        until_it_says(child, "Results are stored again")
        assert child.wait() == 0, child.errors
    assert "Traceback" not in child.errors
    assert child.errors.count("Results can't be stored") == 1
    assert set(site.hits().values()) == {1}
    assert_complete(data_dir, site)


def test_who_stops_while_the_disk_is_full_need_not_wait_for_it_to_be_emptied(
    site: SiteProcess, small_disk: Path
) -> None:
    data_dir = small_disk / "data"
    with tarantella(data_dir, "scrape", start_url(site), *RULES) as child:
        until(lambda: len(site.hits()) > 10, 30, "nothing is fetched")
        with filled(small_disk):
            until_it_says(child, "There is no room left")
            child.signal(signal.SIGINT)
            assert child.wait(30) != 0
            assert "Traceback" not in child.errors
    with tarantella(data_dir, "runs", "resume", "latest") as child:
        assert child.wait() == 0, child.errors
    assert_complete(data_dir, site)


def test_a_command_that_finds_no_room_for_its_store_says_what_to_do(site: SiteProcess, small_disk: Path) -> None:
    with filled(small_disk), tarantella(small_disk / "data", "scrape", start_url(site), *RULES) as child:
        assert child.wait() == 1
        [line] = child.errors.splitlines()
        assert line.startswith("error: ")
        assert "--data-dir" in line or "Free some disk space" in line


def with_limits(data_dir: Path, limits: str, *arguments: str) -> Child:
    """The real command line, allowed less than usual."""
    limited = f"import os, resource, sys; {limits}; os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-m", "tarantella", *arguments, "--data-dir", str(data_dir)]
    return Child([sys.executable, "-c", limited, *command], data_dir.parent)


def test_a_store_that_may_not_grow_is_not_called_damaged_and_loses_nothing(site: SiteProcess, data_dir: Path) -> None:
    """A limit instead of a full disk, for whoever can't mount one."""
    limits = "resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))"
    with with_limits(data_dir, limits, "scrape", start_url(site), *RULES) as child:
        until_it_says(child, "Results can't be stored")
        child.signal(signal.SIGINT)
        assert child.wait(30) != 0
    assert "damaged" not in child.errors
    assert "Traceback" not in child.errors
    with tarantella(data_dir, "runs", "resume", "latest") as child:
        assert child.wait() == 0, child.errors
    assert_complete(data_dir, site)


# -- a store that another program holds


def test_a_command_waits_for_a_store_that_another_program_holds(site: SiteProcess, data_dir: Path) -> None:
    with tarantella(data_dir, "scrape", start_url(site), *RULES) as child:
        until(lambda: len(site.hits()) > 10, 30, "nothing is fetched")
        with locked(data_dir), tarantella(data_dir, "runs", "list") as other:
            # Who only reads is not kept waiting.
            assert other.wait(20) == 0
            assert child.is_running
        assert child.wait() == 0, child.errors
    assert "Traceback" not in child.errors
    assert set(site.hits().values()) == {1}
    assert_complete(data_dir, site)


# -- few file descriptors


def test_a_crawl_begins_no_more_than_it_can_open_files_for(site: SiteProcess, data_dir: Path) -> None:
    limits = "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))"
    hosts = [f"127.0.0.{number}" for number in range(1, 10)]
    starts = [site.url_for(tree_path(2, 5, (), 250), host) for host in hosts]
    with with_limits(data_dir, limits, "scrape", *starts, *RULES, "--concurrency", "300", "--per-host", "40") as child:
        assert child.wait() == 0, child.errors
    assert "this process may open only 64 files" in child.errors
    assert read_run(data_dir).done == {site.url_for(path, host) for host in hosts for path in tree_paths(2, 5, 250)}
    check(data_dir, at_rest=True)


def test_a_crawl_asks_for_as_many_files_as_it_may_open(site: SiteProcess, data_dir: Path) -> None:
    limits = "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 1024))"
    with with_limits(data_dir, limits, "scrape", site.url_for("/ok"), *RULES) as child:
        assert child.wait() == 0, child.errors
    assert "may open only" not in child.errors
