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
import time
from pathlib import Path
from types import FrameType

STRAGGLER_SECONDS = 2.0


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
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    signal.setitimer(signal.ITIMER_REAL, 0)
    return {
        "wall_seconds": wall,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
        "exit_code": os.waitstatus_to_exitcode(status),
        "ended_early": ended_early,
        "left_processes": _outlived_by_its_group(process.pid) and _kill_group(process.pid),
    }


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
