"""A browser dies, hangs, or loses the process that started it: pages go on in a new one, and nothing is left behind."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.fault.commands import tarantella
from tests.fault.processes import Child, SiteProcess, until

LOOPBACK = ("--allow-network", "127.0.0.0/8")


@pytest.fixture
def temporary() -> Iterator[Path]:
    """Where temporary files go, so that none of ours is overlooked and nobody else's is seen."""
    with tempfile.TemporaryDirectory(prefix="t-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def crawl(data_dir: Path, site: SiteProcess, browser: str, temporary: Path) -> Iterator[Child]:
    """A command with a page open in its browser, and no end in sight."""
    with start(data_dir, site.url_for("/slow?s=30"), browser, temporary) as command:
        until(lambda: bool(site.hits()), 30, "the browser did not come")
        yield command


def start(data_dir: Path, url: str, browser: str, temporary: Path, *more: str) -> Child:
    env = {"TARANTELLA_BROWSER": browser, "TMPDIR": str(temporary)}
    return tarantella(data_dir, "scrape", url, "--strategy", "browser", *LOOPBACK, *more, env=env)


def below(command: Child) -> list[psutil.Process]:
    """All processes that the command has started, and those that these have."""
    return list(psutil.Process(command.pid).children(recursive=True))


def the_browser(command: Child) -> psutil.Process:
    for process in below(command):
        with suppress(psutil.Error):
            arguments = process.cmdline()
            if any("--user-data-dir" in each for each in arguments) and not any(
                "--type=" in each for each in arguments
            ):
                return process
    raise AssertionError("there is no browser")


def until_gone(processes: list[psutil.Process]) -> None:
    assert len(processes) > 3, "a browser is several processes, and a driver"
    until(lambda: not psutil.wait_procs(processes, timeout=0)[1], 20, f"still there: {processes}")


def test_nothing_is_left_of_a_command_that_was_killed_and_its_files_go_with_the_next(
    crawl: Child, data_dir: Path, site: SiteProcess, browser: str, temporary: Path
) -> None:
    processes = below(crawl)
    crawl.signal(signal.SIGKILL)
    until_gone(processes)
    with start(data_dir, site.url_for("/ok"), browser, temporary) as another:
        assert another.wait() == 0, another.errors
    assert list(temporary.glob("tarantella-browser-*")) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_of_a_command_that_was_told_to_stop(crawl: Child, temporary: Path, number: int) -> None:
    processes = below(crawl)
    crawl.signal(number)
    crawl.wait()
    until_gone(processes)
    assert list(temporary.iterdir()) == []


def test_a_page_goes_on_in_a_new_browser_when_its_own_was_killed(
    data_dir: Path, site: SiteProcess, browser: str, temporary: Path
) -> None:
    with start(data_dir, site.url_for("/slow?s=3"), browser, temporary, "--backoff", "0.1") as command:
        until(lambda: bool(site.hits()), 30, "the browser did not come")
        the_browser(command).kill()
        assert command.wait() == 0, command.errors
    assert list(site.hits().values()) == [2]
