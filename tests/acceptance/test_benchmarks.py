"""Every benchmark runs, on sizes that say nothing about speed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks import browser, replay, resume
from benchmarks.__main__ import main
from benchmarks.registry import BENCHMARKS
from tests.browsers import program_or_skip

TINY = ["--pages", "40", "--many", "1000", "--rounds", "1", "--repetitions", "1", "--hosts", "2", "--concurrency", "8"]
# What these would add is the time of more crawls.
LEFT_OUT = ("crawl", "memory", "first-request")
needs_nginx = pytest.mark.skipif(
    shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin") is None, reason="nginx is not installed"
)


@needs_nginx
@pytest.mark.slow
@pytest.mark.parametrize("name", [one.name for one in BENCHMARKS if one.name not in LEFT_OUT])
def test_a_benchmark_does_all_its_work(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The last twentieth of so few pages would be fetched before the kill.
    monkeypatch.setattr(resume, "CUTS", (0.1, 0.4))
    monkeypatch.setattr(browser, "LOOKS_AFTER", (2, 4, 6, 8, 10, 12))
    monkeypatch.setattr(browser, "PAGES", dict.fromkeys(browser.PAGES, 2))
    if name == "replay":
        monkeypatch.setattr(replay, "PAGES", 3)
        monkeypatch.setenv("TARANTELLA_BROWSER", program_or_skip())
    main([*TINY, "--only", name, "--work-dir", str(tmp_path)])
    found = json.loads((tmp_path / f"{name}.json").read_text())
    assert found["figures"]
    assert not found["complaints"]
    assert f"## {name}" in capsys.readouterr().out
    assert not [left for left in ("run", "resume", "lists") if (tmp_path / left).exists()]


@needs_nginx
def test_who_names_contestants_sees_how_they_stand_beside_one_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([*TINY, "--only", "bare-loop", "tarantella", "--work-dir", str(tmp_path)])
    out = capsys.readouterr().out
    for told in ("pages/s", "CPU ms/page", "peak MB", "tarantella ÷", "by round", "1 of 1"):
        assert told in out
    assert "scrapy" not in out
