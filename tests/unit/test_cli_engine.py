"""The commands that Tarantella calls itself."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import orjson

import tarantella
from tarantella.domain.url import resolve
from tarantella.engine.taster import READY, pack_request, unpack_visit
from tarantella.extractors.page import Wants
from tarantella.fetchers.contract import Options, Request
from tests.site import Site

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(tarantella.__file__).parents[1])}


def test_a_taster_visits_what_comes_in_survives_ctrl_c_and_ends_with_its_input() -> None:
    async def story() -> None:
        async with Site() as site:
            options = Options("test", allow_networks=("127.0.0.0/8",))
            asked = pack_request(Request(resolve(site.url_for("/ok")), options), Wants("fast", (), True), False)
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "tarantella", "taster"),
                env=ENVIRONMENT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            assert process.stdin is not None
            assert process.stdout is not None
            assert await asyncio.wait_for(process.stdout.readline(), 30) == READY
            process.stdin.write(asked + b"\n")
            first = unpack_visit(await asyncio.wait_for(process.stdout.readline(), 30))
            process.send_signal(signal.SIGINT)
            process.stdin.write(asked + b"\n")
            second = unpack_visit(await asyncio.wait_for(process.stdout.readline(), 30))
            process.stdin.close()
            _, errors = await asyncio.wait_for(process.communicate(), 30)
            assert (first.status, second.status, process.returncode, errors) == (200, 200, 0, b"")

    asyncio.run(story())


def test_an_engine_that_fails_leaves_the_terminal_alone_and_tells_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = subprocess.run(
        [sys.executable, "-m", "tarantella", "engine", "no-such-run", "--data-dir", str(tmp_path / "data")],
        env={**ENVIRONMENT, "TARANTELLA_CHILD_LOG_FILE": str(log)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    assert all(orjson.loads(line)["timestamp"] for line in log.read_bytes().splitlines())
