"""Runs one command and writes down what it cost. A process of its own, on the standard library alone.

Linux counts the memory of whoever starts a process towards that process's peak. Started from here, a
contestant inherits a dozen megabytes, fewer than it needs itself, instead of the benchmark's own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType

STRAGGLER_SECONDS = 2.0
SAMPLE_SECONDS = 0.05
# To look for new processes means to read all of /proc: not at every sample.
SAMPLES_PER_SEARCH = 5
PROC = Path("/proc")


def main() -> None:
    """Usage: stopwatch.py SECONDS LOG RESULT COMMAND..."""
    seconds, log, result, *command = sys.argv[1:]
    with Path(log).open("wb") as output:
        figures = _time(command, float(seconds), output.fileno())
    Path(result).write_text(json.dumps(figures))


def _time(command: list[str], seconds: float, output: int) -> dict[str, object]:
    begin = time.perf_counter()
    # A process group of its own, so that the contestant's children can be found, and ended, with it.
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
    ended_early = False

    def end_it(_number: int, _frame: FrameType | None) -> None:
        nonlocal ended_early
        ended_early = _kill_group(process.pid)

    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end_it)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    scales = Scales(process.pid)
    scales.start()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    signal.setitimer(signal.ITIMER_REAL, 0)
    scales.stop()
    peak = max(scales.largest, usage.ru_maxrss * 1024)
    return {
        "wall_seconds": wall,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": peak,
        "peak_sum_bytes": max(scales.together, peak),
        "exit_code": os.waitstatus_to_exitcode(status),
        "ended_early": ended_early,
        "left_processes": _outlived_by_its_group(process.pid) and _kill_group(process.pid),
    }


class Scales(threading.Thread):
    """Weighs the processes of a session again and again: the peak of each, and of all of them together.

    The peak of one is exact, because the system keeps it; that of their sum is as exact as the samples are close.
    """

    def __init__(self, session: int) -> None:
        super().__init__(daemon=True)
        self.largest = 0
        self.together = 0
        self._session = session
        self._over = threading.Event()

    def run(self) -> None:
        number, members = 0, [self._session]
        while not self._over.wait(SAMPLE_SECONDS):
            if number % SAMPLES_PER_SEARCH == 0:
                members = _members(self._session)
            number += 1
            weights = [_weight(pid) for pid in members]
            self.largest = max([self.largest, *(peak for peak, _ in weights)])
            self.together = max(self.together, sum(now for _, now in weights))

    def stop(self) -> None:
        self._over.set()
        self.join()


def _members(session: int) -> list[int]:
    """The processes of a session, where the system tells."""
    found = []
    for entry in PROC.glob("[0-9]*"):
        try:
            if os.getsid(int(entry.name)) == session:
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def _weight(pid: int) -> tuple[int, int]:
    """The most memory that a process has ever had, and what it has now, in bytes."""
    try:
        status = (PROC / str(pid) / "status").read_text()
    except OSError:
        return 0, 0
    sizes = dict(line.split(":", 1) for line in status.splitlines() if line.startswith(("VmHWM:", "VmRSS:")))
    if len(sizes) < 2:
        return 0, 0
    return int(sizes["VmHWM"].split()[0]) * 1024, int(sizes["VmRSS"].split()[0]) * 1024


def _outlived_by_its_group(group: int) -> bool:
    """Whether children are still there after the time that it takes them to notice their parent's end."""
    deadline = time.monotonic() + STRAGGLER_SECONDS
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.02)
    return True


def _kill_group(group: int) -> bool:
    """End whoever is left of the contestant's process group, and say whether there was anybody."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    main()
