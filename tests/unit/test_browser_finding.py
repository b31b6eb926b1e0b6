"""A browser is found where there is one, and what is missing is told with what to do."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from pathlib import Path

import pytest

from tarantella.fetchers.browser import profiles
from tarantella.fetchers.browser.finding import find_browser


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any program."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "downloaded"))
    monkeypatch.setattr("tarantella.fetchers.browser.finding._APPLICATIONS", ())
    return tmp_path


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_systems_browser_comes_before_playwrights_and_a_named_one_before_both(nowhere: Path) -> None:
    assert "make setup-browser" in find_browser().missing
    program(nowhere / "downloaded" / "chromium-1000" / "chrome-linux" / "chrome")
    newest = program(nowhere / "downloaded" / "chromium-1200" / "chrome-linux64" / "chrome")
    assert find_browser().program == newest
    chrome = program(nowhere / "google-chrome")
    assert find_browser().program == chrome
    chromium = program(nowhere / "chromium")
    assert find_browser().program == chromium
    assert find_browser("google-chrome").program == chrome
    assert find_browser(newest).program == newest


def test_what_is_named_and_not_there_is_not_replaced_by_another(nowhere: Path) -> None:
    program(nowhere / "chromium")
    assert find_browser("/nowhere/chromium").program is None
    assert "/nowhere/chromium" in find_browser("/nowhere/chromium").missing
    assert find_browser("off").program is None


def test_without_playwright_there_is_no_browser(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(nowhere / "chromium")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "Playwright" in find_browser().missing


def test_a_folder_is_swept_when_its_process_is_gone_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(prefix="t-", dir="/tmp") as place:
        monkeypatch.setattr(profiles, "_place", lambda: place)
        alive = profiles.Profile()
        dead, half = (Path(place, f"{profiles.PREFIX}{name}") for name in ("dead", "half"))
        for folder in (dead, half):
            folder.mkdir()
            (folder / "Cookies").write_text("secret")
        (dead / profiles.LOCK).touch()
        old = time.time() - 2 * profiles.ABANDONED_SECONDS
        os.utime(half, (old, old))
        profiles.sweep()
        assert [each.name for each in Path(place).iterdir()] == [alive.folder.name]
        with (alive.folder / profiles.LOCK).open() as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        alive.remove()
        assert list(Path(place).iterdir()) == []
