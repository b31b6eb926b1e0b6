"""One measured run of one contestant: its cost, and whether it brought back every page exactly once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.rig.site import Served

STOPWATCH = Path(__file__).with_name("stopwatch.py")
REPOSITORY = Path(__file__).resolve().parent.parent.parent
# Time for the stopwatch to end a contestant and write its figures.
GRACE_SECONDS = 60
LOG_TAIL = 2000
# They would change what a contestant does, or make it compile its modules again at every start.
DROPPED_VARIABLES = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONPROFILEIMPORTTIME")
DROPPED_PREFIXES = ("TARANTELLA_", "APP_", "SCRAPY_", "CRAWLEE_", "APIFY_")


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one run cost, from the start of its process to its exit, export included."""

    contestant: str
    round: int
    pages: int
    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int  # of its largest process
    peak_sum_bytes: int  # of all its processes together
    complaint: str | None

    @property
    def pages_per_second(self) -> float | None:
        """Nothing for a run that did not do its work: half a crawl has no speed."""
        return None if self.complaint else self.pages / self.wall_seconds


def measure(
    name: str,
    command: Sequence[str],
    *,
    round_number: int,
    served: Served,
    outputs: Sequence[Path],
    folder: Path,
    timeout_seconds: float,
) -> Measurement:
    """Run a command in a folder, and check what it left there."""
    figures = _run(command, folder, timeout_seconds)
    complaint = _complaint_about_exit(figures, folder / "log.txt", timeout_seconds)
    return Measurement(
        contestant=name,
        round=round_number,
        pages=served.site.shape.pages,
        wall_seconds=figures["wall_seconds"],
        cpu_seconds=figures["cpu_seconds"],
        peak_bytes=figures["peak_bytes"],
        peak_sum_bytes=figures["peak_sum_bytes"],
        complaint=complaint or complaint_about_output(outputs, served),
    )


def _run(command: Sequence[str], folder: Path, timeout_seconds: float) -> dict[str, Any]:
    result = folder / "figures.json"
    stopwatch = subprocess.Popen(
        [
            *(sys.executable, "-I", "-S", str(STOPWATCH)),
            *(str(timeout_seconds), str(folder / "log.txt"), str(result)),
            *command,
        ],
        cwd=folder,
        env=environment(os.environ),
    )
    try:
        stopwatch.wait(timeout_seconds + GRACE_SECONDS)
    finally:
        if stopwatch.poll() is None:
            stopwatch.terminate()
            stopwatch.wait(GRACE_SECONDS)
    if stopwatch.returncode != 0:
        raise RuntimeError(f"the stopwatch failed with exit code {stopwatch.returncode} on: {' '.join(command)}")
    figures: dict[str, Any] = json.loads(result.read_text())
    return figures


def environment(ours: Mapping[str, str]) -> dict[str, str]:
    """Ours, without what would favour or hinder somebody, and with this package found from any folder."""
    kept = {
        name: value
        for name, value in ours.items()
        if name not in DROPPED_VARIABLES and not name.startswith(DROPPED_PREFIXES)
    }
    inherited = [str(Path(entry).resolve()) for entry in ours.get("PYTHONPATH", "").split(os.pathsep) if entry]
    kept["PYTHONPATH"] = os.pathsep.join([str(REPOSITORY), *inherited])
    return kept


def _complaint_about_exit(figures: Mapping[str, Any], log: Path, timeout_seconds: float) -> str | None:
    if figures["ended_early"]:
        return f"did not end within {timeout_seconds:.0f} s and was killed; {_tail(log)}"
    if figures["exit_code"] != 0:
        return f"ended with exit code {figures['exit_code']}; {_tail(log)}"
    if figures["left_processes"]:
        return "left processes behind when it ended"
    return None


def _tail(log: Path) -> str:
    said = log.read_text(errors="replace").strip()[-LOG_TAIL:]
    return f"its last words:\n{said}" if said else "it said nothing"


def complaint_about_output(outputs: Sequence[Path], served: Served) -> str | None:
    """What is wrong with the records, or None when there is exactly one, with its title, for every page."""
    titles = served.titles()
    missing = set(titles)
    rows = strangers = repeated = untitled = 0
    for output in outputs:
        if not output.is_file():
            return f"wrote no {output.name}"
        with output.open("rb") as lines:
            for line in lines:
                rows += 1
                record = json.loads(line)
                url = record.get("url")
                if url not in titles:
                    strangers += 1
                elif url not in missing:
                    repeated += 1
                elif record.get("title") != titles[url]:
                    untitled += 1
                missing.discard(url)
    if not (missing or strangers or repeated or untitled):
        return None
    return (
        f"expected {len(titles)} pages, each once, and got {rows} rows: {len(missing)} missing, "
        f"{repeated} repeated, {strangers} not of the site, {untitled} with a wrong title"
    )
