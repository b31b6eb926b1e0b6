"""How long a run that was cut off takes to go on: killed with a large frontier, and killed close to its end."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median

from benchmarks.contestants import tarantella_run
from benchmarks.contestants.contract import Task
from benchmarks.contestants.registry import TARANTELLA, named
from benchmarks.contract import Benchmark, Findings, Setting, Table, Wish, say
from benchmarks.rig import nginx, site
from benchmarks.rig.arrivals import Arrivals
from benchmarks.rig.command import CommandFailed, answer_of, running, seconds_of
from benchmarks.rounds import task_in

WANTED_SECONDS = 2.0
PATIENCE = 60.0
# Shares of the pages after which the run is killed.
CUTS = (0.2, 0.95)

HOW = """\
A run is killed (SIGKILL) when the site has served a fifth of its pages, and once more when it has served nearly all. Then
`tarantella runs resume` is started and killed again at its first page, {repetitions} times: once right after the kill, then on copies of the data
directory as the kill left it. Timed from the start of the process to the arrival of the request in the site's log, which nginx
stamps with the millisecond; robots.txt counts as a request, and the first page is told apart. To load the parts of Tarantella and do nothing takes as long as the last column says."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A run as the kill left it, and how long it took to go on."""

    done: int
    pending: int
    stored_bytes: int
    first_request: list[float]
    first_page: list[float]
    imports: list[float]  # of the parts that it needs, at about the same moments


def run(setting: Setting) -> Findings:
    if (reason := named(TARANTELLA).missing()) is not None:
        return Findings([], [], absent={TARANTELLA: reason})
    with _folder(setting) as folder, _site(setting) as served:
        task, log = task_in(folder, served, setting), served.log
        assert log is not None
        cuts, pages, command = [], 0, tarantella_run.scrape(task)
        for share in CUTS:
            pages += _cut_off(command, max(1, int(setting.many * share) - pages), task, log)
            cut = _go_on_again_and_again(task, log, setting.repetitions)
            say(f"killed at {cut.done:,} done, {cut.pending:,} pending: {median(cut.first_request):.3f} s")
            cuts.append(cut)
            command = tarantella_run.resume("latest", task)
    return Findings(
        tables=[_table(cuts)],
        raw=[asdict(cut) for cut in cuts],
        wishes=[_wish(cut) for cut in cuts],
        notes=[HOW.format(repetitions=setting.repetitions)],
    )


@contextmanager
def _folder(setting: Setting) -> Iterator[Path]:
    folder = setting.work_dir / "resume"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _site(setting: Setting) -> Iterator[site.Served]:
    say(f"preparing a site of {setting.many:,} pages")
    generated = site.prepare(site.Shape(setting.many), setting.work_dir)
    with nginx.serving(generated, setting.work_dir, keep_log=True) as served:
        yield served


def _cut_off(command: Sequence[str], pages: int, task: Task, log: Path) -> int:
    """Let it fetch so many pages and kill it; how many it were."""
    arrivals = Arrivals(log)
    with running(command, task.out.parent) as started:
        timeout = PATIENCE + named(TARANTELLA).timeout_seconds(pages)
        fetched = arrivals.count_pages(pages, timeout, started.is_alive)
        if fetched < pages or not started.is_alive():
            raise CommandFailed(f"ended or hung after {fetched} of {pages} pages; {started.last_words()}")
        started.kill()
    return fetched


def _go_on_again_and_again(task: Task, log: Path, repetitions: int) -> Cut:
    """How long the first request took each time; the data directory is then as the kill left it."""
    data = tarantella_run.data_dir(task)
    kept = data.with_name("data-as-killed")
    shutil.rmtree(kept, ignore_errors=True)
    _copy(data, kept)
    stored = sum(file.stat().st_size for file in kept.rglob("*") if file.is_file())
    cut = Cut(0, 0, stored, [], [], [])
    # The first time on the files that were open when the kill came, much of them not yet on the disk.
    for _ in range(repetitions):
        request, page = _go_on(task, log)
        cut.first_request.append(request)
        cut.first_page.append(page)
        _restore(kept, data)
        cut.imports.append(seconds_of(tarantella_run.ALL_PARTS, task.out.parent))
    counts = _counts(task)
    _restore(kept, data)
    return replace(cut, done=counts["done"], pending=counts["pending"])


def _counts(task: Task) -> dict[str, int]:
    command = tarantella_run.command("runs", "list", "--json", "--data-dir", str(tarantella_run.data_dir(task)))
    (found,) = json.loads(answer_of(command, task.out.parent))
    counts: dict[str, int] = found["counts"]
    return counts


def _copy(source: Path, target: Path) -> None:
    # Nobody listens at the sockets of the dead.
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.sock"))


def _restore(kept: Path, data: Path) -> None:
    shutil.rmtree(data)
    _copy(kept, data)
    for file in data.rglob("*"):
        if file.is_file():
            # Or the first commit of the resumed run would have to write out our copy.
            with file.open("rb") as opened:
                os.fsync(opened.fileno())


def _go_on(task: Task, log: Path) -> tuple[float, float]:
    """Seconds from the start of the command to its first request, and to its first page."""
    arrivals = Arrivals(log)
    with running(tarantella_run.resume("latest", task), task.out.parent) as started:
        request, page = arrivals.first(PATIENCE, started.is_alive)
        if request is None or page is None:
            raise CommandFailed(f"asked for nothing within {PATIENCE:.0f} s; {started.last_words()}")
        started.kill()
    return request.at - started.began_at, page.at - started.began_at


def _table(cuts: Sequence[Cut]) -> Table:
    columns = (
        "killed with",
        "data MB",
        "first request, median s",
        "min–max",
        "right after the kill",
        "first page",
        "imports alone",
    )
    rows = [
        [
            f"{cut.done:,} done, {cut.pending:,} pending",
            f"{cut.stored_bytes / 1e6:.0f}",
            f"{median(cut.first_request):.2f}",
            f"{min(cut.first_request):.2f}–{max(cut.first_request):.2f}",
            f"{cut.first_request[0]:.2f}",
            f"{median(cut.first_page):.2f}",
            f"{median(cut.imports):.2f}",
        ]
        for cut in cuts
    ]
    return Table(columns, rows)


def _wish(cut: Cut) -> Wish:
    what = f"resume with {cut.done:,} done and {cut.pending:,} pending, to the first request"
    return Wish(what, median(cut.first_request), WANTED_SECONDS, "s")


BENCHMARK = Benchmark("resume", "How long does a run that was killed take to go on?", run)
