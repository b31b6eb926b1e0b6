"""A fleet as users start it: servers and workers, processes of their own, on one PostgreSQL and one Redis."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg.rows import dict_row

from redis import Redis
from tarantella.queues.celery import queue_key
from tests.fault.processes import PATIENCE, Child, environment, until
from tests.postgres import Server
from tests.redis import RedisServer
from tests.serving import ServerProcess

PRIORITIES = range(4)


class WorkerProcess(Child):
    """`tarantella worker`, or plain Celery; ready to work, unless it is not to be waited for."""

    def __init__(
        self, command: Sequence[str], folder: Path, *, env: Mapping[str, str] | None = None, ready: bool = True
    ) -> None:
        super().__init__(command, folder, env=env)
        if ready:
            self.until_ready()

    def until_ready(self) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=PATIENCE)
        except queue.Empty:
            line = None
        if not line:
            self.kill()
            raise AssertionError(f"The worker did not start.\n{self.errors}")
        return dict(json.loads(line))

    def children(self) -> list[int]:
        """The processes that have engines."""
        return [each.pid for each in psutil.Process(self.pid).children() if "tarantella" in " ".join(each.cmdline())]


@dataclass(slots=True)
class Fleet:
    """One database, one broker, and a folder in which every command finds them."""

    folder: Path
    database_url: str
    broker_url: str
    settings: dict[str, str] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def data_dir(self) -> Path:
        """Where the first server, and all workers of this machine, have their data."""
        return self.folder / "data"

    def serve(
        self,
        data_dir: Path | None = None,
        engines: int = 0,
        allow_network: str | None = None,
        env: Mapping[str, str] = {},
    ) -> ServerProcess:
        more = ("--allow-network", allow_network) if allow_network is not None else ()
        return ServerProcess(data_dir or self.data_dir, *more, engines=engines, env={**self.settings, **env})

    def work(
        self, processes: int = 1, *, data_dir: Path | None = None, ready: bool = True, env: Mapping[str, str] = {}
    ) -> WorkerProcess:
        command = [sys.executable, "-m", "tarantella", "worker", "--json", "--processes", str(processes)]
        command += ["--name", f"w{next(self._numbers)}@%h", "--data-dir", str(data_dir or self.data_dir)]
        return WorkerProcess(command, self.folder, env={**self.settings, **env}, ready=ready)

    def asked(self, *arguments: str, data_dir: Path | None = None, env: Mapping[str, str] = {}) -> str:
        """What a command that ends by itself says, on both of its ends."""
        command = [sys.executable, "-m", "tarantella", *arguments, "--data-dir", str(data_dir or self.data_dir)]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment(**self.settings, **env),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return done.stdout + done.stderr

    def rows(self, sql: str, *values: object) -> list[dict[str, Any]]:
        with psycopg.connect(self.database_url, autocommit=True, row_factory=dict_row) as connection:
            return connection.execute(sql.encode(), values).fetchall()

    def workers(self) -> list[dict[str, Any]]:
        """Those that are said to live and work for all runs."""
        return self.rows("SELECT * FROM workers WHERE dead_at IS NULL AND serves IS NULL ORDER BY started_at")

    def until_workers(self, number: int, seconds: float = PATIENCE) -> list[dict[str, Any]]:
        try:
            until(lambda: len(self.workers()) == number, seconds, f"there are not {number} workers")
        except AssertionError as error:
            # As they are now: what they were when the waiting began tells nothing.
            raise AssertionError(f"{error}\n{self.workers()}") from None
        return self.workers()

    def redis(self) -> Redis:
        return Redis.from_url(self.broker_url, socket_timeout=5)

    def waiting_messages(self) -> list[int]:
        """How many messages wait, by the priority of runs."""
        with self.redis() as client:
            return [int(client.llen(queue_key(priority))) for priority in PRIORITIES]


@contextmanager
def new_fleet(folder: Path, postgres: Server, redis: RedisServer, **settings: str) -> Iterator[Fleet]:
    database = postgres.new_database()
    fleet = Fleet(folder, postgres.url(database), redis.new_url(), dict(settings))
    fleet.settings |= {"TARANTELLA_DATABASE_URL": fleet.database_url, "TARANTELLA_BROKER_URL": fleet.broker_url}
    # For those who look into the database, and for commands that are started by hand.
    (folder / "tarantella.toml").write_text(
        f'database_url = "{fleet.database_url}"\nbroker_url = "{fleet.broker_url}"\n'
    )
    try:
        yield fleet
    finally:
        postgres.drop(database)


def freeze(pid: int) -> None:
    """Stop a process and all its children, as a machine that is suspended does."""
    for each in (*psutil.Process(pid).children(recursive=True), psutil.Process(pid)):
        os.kill(each.pid, signal.SIGSTOP)


def thaw(pid: int) -> None:
    for each in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
        os.kill(each.pid, signal.SIGCONT)
