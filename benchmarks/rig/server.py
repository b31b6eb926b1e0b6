"""A `tarantella serve` of its own, started for a benchmark and stopped with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.rig.measure import REPOSITORY

STOP_SECONDS = 30.0
# The crawl has one of these; what else is submitted waits.
RUNS_AT_A_TIME = 5


class ServerError(RuntimeError):
    """The server does not serve."""


@contextmanager
def serving(data_dir: Path) -> Iterator[str]:
    """The address of a server on this data directory, for as long as the block lasts."""
    environment = {**os.environ, "TARANTELLA_MAX_CONCURRENT_TASKS": str(RUNS_AT_A_TIME)}
    with (data_dir.parent / f"{data_dir.name}.log").open("wb") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tarantella", "serve", "--json", "--port", "0"),
                *("--data-dir", str(data_dir), "--allow-network", "127.0.0.0/8"),
            ],
            cwd=REPOSITORY,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise ServerError(f"`tarantella serve` ended at once: see {log.name}")
            yield str(json.loads(line)["url"])
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(STOP_SECONDS)
