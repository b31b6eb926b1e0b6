"""Looks for what is missing, broken or stuck, and says what to do about it."""

from __future__ import annotations

import platform
import resource
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import orjson

from tarantella.domain.errors import TarantellaError
from tarantella.domain.run import RunStatus, Wanted
from tarantella.domain.sentence import with_one_stop
from tarantella.domain.struct import Frozen
from tarantella.domain.url import redact
from tarantella.fetchers.browser.finding import OFF, find_browser
from tarantella.queues import broker
from tarantella.services import runs
from tarantella.services.app import App
from tarantella.services.runs import Run
from tarantella.settings import Settings
from tarantella.store import schema
from tarantella.store.dialect import dialect_of
from tarantella.store.schedules import Timekeeping, timekeeping
from tarantella.store.standing import standings
from tarantella.store.workers import INTERRUPTED

OLDEST_PYTHON = (3, 11)
OLDEST_SQLITE = (3, 35, 0)
SOUND_SQLITE = (3, 51, 3)
LEAST_DISK, LITTLE_DISK = 100_000_000, 1_000_000_000
LEAST_FILES, FEW_FILES = 128, 1_024
BEAT_IS_OLD = 120.0
CLOCK_MAY_LAG = 300.0
SCHEDULES_MAY_LAG = 60.0
EARLIEST_NOW = 1_735_689_600.0  # the first of January 2025, before which no Tarantella was made
MOST_RUNS = 10_000

# What each library is needed for; without one marked False Tarantella works all the same.
LIBRARIES = {
    "ada-url": ("addresses", True),
    "alembic": ("upgrades of the database", True),
    "cronsim": ("jobs that run by themselves", True),
    "fastapi": ("the API of `tarantella serve`", True),
    "fastapi-swagger": ("its description at /docs", True),
    "httptools": ("HTTP requests to it", True),
    "jmespath": ("fields in JSON", True),
    "lxml_html_clean": ("what trafilatura needs", True),
    "msgspec": ("values", True),
    "orjson": ("JSON", True),
    "protego": ("robots.txt", True),
    "publicsuffixlist": ("registered domains", True),
    "python-dotenv": ("settings in .env", True),
    "pyyaml": ("fields files", True),
    "regex": ("fields by regular expressions", True),
    "rich": ("progress and tables", True),
    "sqlalchemy": ("the database", True),
    "trafilatura": ("the text of difficult articles", True),
    "turbohtml": ("HTML", True),
    "typer": ("the command line", True),
    "tzdata": ("time zones", True),
    "uvicorn": ("the server of the API", True),
    "uvloop": ("a faster event loop", False),
    "wreq": ("HTTP", True),
}
POSTGRES = {"psycopg": ("PostgreSQL", True)}
FLEET = {"celery": ("workers on other machines", True), "redis": ("the broker", True)}
BROKER_PATIENCE = 2.0
MOST_EXPLAINED = 20


class Health(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Check(Frozen):
    """One thing that was looked at."""

    name: str
    health: Health
    finding: str
    remedy: str | None = None


async def examine(
    settings: Settings, open_app: Callable[[Settings], App], suffix: str = "", starting: str = ""
) -> list[Check]:
    """Look at everything, from the ground up. Commands in remedies end with the suffix, or that for starting a server or a worker."""
    needed = {**LIBRARIES, **(POSTGRES if settings.database_url else {}), **(FLEET if settings.broker_url else {})}
    checks = [*_python(), *_libraries(needed), *_sqlite(), *_limits(), *_clock(), *_browser(settings)]
    checks += [*_folder(settings.data_dir), *_broker(settings)]
    stored = list(_database(settings))
    checks += stored
    if all(check.health is Health.OK for check in stored) and any(check.name == "schema" for check in stored):
        checks += await _work(settings, open_app, suffix, starting)
    return checks


def _python() -> Iterator[Check]:
    version = platform.python_version()
    where = f"{version} at {sys.executable}"
    if sys.version_info < OLDEST_PYTHON:
        yield Check("Python", Health.FAIL, where, "Tarantella needs Python 3.11 or newer.")
    else:
        yield Check("Python", Health.OK, where)


def _libraries(libraries: Mapping[str, tuple[str, bool]]) -> Iterator[Check]:
    for name, (purpose, needed) in libraries.items():
        try:
            yield Check(name, Health.OK, f"{metadata.version(name)} ({purpose})")
        except metadata.PackageNotFoundError:
            health = Health.FAIL if needed else Health.WARN
            meaning = f"not installed: no {purpose}"
            yield Check(name, health, meaning, f"Install it: {sys.executable} -m pip install {name}")


def _sqlite() -> Iterator[Check]:
    version = sqlite3.sqlite_version_info
    if version < OLDEST_SQLITE:
        yield Check("SQLite", Health.FAIL, sqlite3.sqlite_version, "Use a Python that brings SQLite 3.35 or newer.")
    elif version < SOUND_SQLITE:
        yield Check(
            "SQLite",
            Health.OK,
            f"{sqlite3.sqlite_version}; Tarantella works around the WAL-reset bug of versions before 3.51.3",
        )
    else:
        yield Check("SQLite", Health.OK, sqlite3.sqlite_version)


def _limits() -> Iterator[Check]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = "unlimited" if soft == resource.RLIM_INFINITY else str(soft)
    wanted = FEW_FILES if hard == resource.RLIM_INFINITY else min(hard, FEW_FILES)
    remedy = f"Allow more before you start: ulimit -n {wanted}"
    if soft != resource.RLIM_INFINITY and soft < LEAST_FILES:
        yield Check("open files", Health.FAIL, f"{allowed} at most, which is too few for a crawl", remedy)
    elif soft != resource.RLIM_INFINITY and soft < FEW_FILES:
        yield Check("open files", Health.WARN, f"{allowed} at most; a wide crawl needs more", remedy)
    else:
        yield Check("open files", Health.OK, f"{allowed} at most")


def _clock() -> Iterator[Check]:
    now = time.time()
    told = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
    if now < EARLIEST_NOW:
        yield Check("clock", Health.FAIL, f"says {told}, which is long past", "Set the clock of this machine.")
    else:
        yield Check("clock", Health.OK, told)


_OTHERWISE = "Name another, or leave TARANTELLA_BROWSER unset."


def _browser(settings: Settings) -> Iterator[Check]:
    """Most work needs none: one that is missing is told, and nothing is wrong."""
    found = find_browser(settings.browser)
    if found.program is not None:
        yield Check("browser", Health.OK, f"{found.program}, driven by Playwright {metadata.version('playwright')}")
    elif settings.browser is not None and settings.browser.lower() != OFF:
        yield Check("browser", Health.FAIL, found.missing, _OTHERWISE if found.missing.startswith("There") else "")
    else:
        yield Check("browser", Health.OK, f"none, so that pages can't be rendered. {found.missing}")


def _folder(folder: Path) -> Iterator[Check]:
    """Whether the data directory can be written, or made, and how much room there is."""
    there = folder.exists()
    standing = folder.absolute() if there else next(parent for parent in folder.absolute().parents if parent.exists())
    if there and not folder.is_dir():
        yield Check("data directory", Health.FAIL, f"{folder} is not a folder", "Choose another with --data-dir.")
        return
    try:
        with TemporaryFile(dir=standing):
            pass
    except OSError as error:
        yield Check(
            "data directory",
            Health.FAIL,
            f"{standing} can't be written: {error.strerror}",
            "Choose another with --data-dir or TARANTELLA_DATA_DIR, or become its owner.",
        )
        return
    yield Check(
        "data directory",
        Health.OK,
        f"{folder.absolute()} {'is writable' if there else 'will be made when it is needed'}",
    )
    free = shutil.disk_usage(standing).free
    told = f"{free / 1e9:.1f} GB free"
    if free < LEAST_DISK:
        yield Check("disk", Health.FAIL, told, "Free some space: without it no result can be stored.")
    elif free < LITTLE_DISK:
        yield Check("disk", Health.WARN, told, "A large crawl may not fit; `tarantella runs delete` frees space.")
    else:
        yield Check("disk", Health.OK, told)


def _database(settings: Settings) -> Iterator[Check]:
    """Its soundness and its schema, looked at without changing anything; there is a schema when there has been a run."""
    try:
        dialect = dialect_of(settings.database)
        findings = list(dialect.examine())
        for finding in findings:
            health = Health.OK if finding.sound else Health.FAIL
            yield Check(finding.name, health, finding.told, None if finding.sound else finding.remedy)
        if not all(finding.sound for finding in findings):
            return
        version = schema.version(dialect)
    except TarantellaError as error:
        yield Check("database", Health.FAIL, error.message, error.remedy or "Choose another database.")
        return
    if version is None:
        yield Check("database", Health.OK, "none yet; the first run makes it" if not findings else "empty so far")
    elif version in schema.KNOWN:
        newest = version == schema.HEAD
        yield Check(
            "schema", Health.OK, version if newest else f"{version}; the next command brings it to {schema.HEAD}"
        )
    else:
        told = f"{version}; this Tarantella knows {schema.HEAD} at most"
        yield Check("schema", Health.FAIL, told, "Upgrade Tarantella.")


async def _work(settings: Settings, open_app: Callable[[Settings], App], suffix: str, starting: str) -> list[Check]:
    """Runs that nobody works on, and workers that are gone."""
    try:
        app = open_app(settings)
    except TarantellaError as error:
        return [Check("database", Health.FAIL, error.message, error.remedy)]
    try:
        dead = await runs.reap(app)
        alive = await runs.workers_alive(app)
        paused = await runs.listed(app, status=RunStatus.PAUSED, limit=MOST_RUNS)
        queued = await runs.listed(app, status=RunStatus.QUEUED, limit=MOST_RUNS)
        running = await runs.listed(app, status=RunStatus.RUNNING, limit=MOST_RUNS)
        newest = await runs.listed(app, limit=1)
        kept = await app.database.read(partial(timekeeping, now=app.now()))
        kept_by = await _why_they_wait(app, [*running, *queued], alive)
    finally:
        app.close()
    keepers = {worker["id"] for worker in alive}
    interrupted = [run.id for run in paused if run.reason == INTERRUPTED]
    live = [*queued, *running]
    abandoned = [run.id for run in live if run.keeper is not None and run.keeper not in keepers]
    waiting = [run for run in live if run.keeper is None]
    served = any(worker["serves"] is None and not _is_silent(worker) for worker in alive)
    return [
        _workers(dead, alive),
        _queue(waiting, served, settings, starting),
        _schedules(kept, starting),
        _kept(kept_by),
        _stuck("interrupted runs", interrupted, suffix),
        _stuck("abandoned runs", abandoned, suffix),
        _order_of_time(newest[0].created_at if newest else 0.0),
    ]


def _broker(settings: Settings) -> Iterator[Check]:
    """Whether messages get through, which nothing depends on but how soon work begins."""
    if settings.broker_url is None:
        return
    told = redact(settings.broker_url)
    try:
        version, messages = broker.ask(settings.broker_url, BROKER_PATIENCE)
    except ImportError:
        return  # which library is missing was said before
    except broker.Away as error:
        yield Check(
            "broker",
            Health.WARN,
            with_one_stop(f"{told} does not answer: {error}. Runs are found all the same, within a second or so"),
            "Start Redis, or see whether its address is right: --broker-url, TARANTELLA_BROKER_URL.",
        )
    else:
        yield Check("broker", Health.OK, f"Redis {version} at {told}; {messages} messages wait")


async def _why_they_wait(app: App, live: list[Run], alive: list[dict[str, Any]]) -> dict[str, str]:
    """Runs that nobody works on although nobody keeps them from it, each with the reason."""
    some = [run.id for run in live if run.wanted is Wanted.RUN][:MOST_EXPLAINED]
    has = sorted({name for worker in alive for name in orjson.loads(worker["has"])})
    found = await app.database.read(partial(standings, run_ids=some, has=has, now=app.now()))
    reasons = {run_id: standing.why_it_waits(app.now()) for run_id, standing in found.items()}
    return {run_id: reason for run_id, reason in reasons.items() if reason is not None}


def _is_silent(worker: Mapping[str, Any]) -> bool:
    return bool(time.time() - worker["beat_at"] > BEAT_IS_OLD)


def _workers(dead: list[str], alive: list[dict[str, Any]]) -> Check:
    silent = [worker for worker in alive if _is_silent(worker)]
    if silent:
        who = ", ".join(f"{worker['pid']} on {worker['host']}" for worker in silent)
        return Check(
            "workers",
            Health.WARN,
            f"no sign of life from process {who}",
            "If it is stopped or frozen, end it. If its machine is gone, the next worker that starts frees what it held.",
        )
    told = f"{len(alive)} alive"
    if machines := {worker["host"] for worker in alive if worker["node"]}:
        told += f" on {len(machines)} machine{'s' if len(machines) > 1 else ''}"
    versions = sorted({worker["version"] for worker in alive})
    if len(versions) > 1:
        told = f"{told}, of versions {' and '.join(versions)}"
        return Check("workers", Health.WARN, told, "Upgrade the older ones; until then both work.")
    if dead:
        told = f"{told}; {len(dead)} had died, and what they held is free again"
    return Check("workers", Health.OK, told)


def _kept(reasons: dict[str, str]) -> Check:
    """Runs that can't get on although somebody is there to work on them."""
    if not reasons:
        return Check("waiting runs", Health.OK, "none that is kept by its hosts")
    run_id, reason = next(iter(reasons.items()))
    more = f"; and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    return Check(
        "waiting runs",
        Health.WARN,
        f"{run_id[-12:]}: {reason}{more}",
        "`tarantella sites list` shows hosts, `sites reset-breaker` and `sites set` change them.",
    )


def _queue(waiting: list[Run], served: bool, settings: Settings, starting: str) -> Check:
    """Runs that no command keeps are for the engines of a server, or for workers."""
    if not waiting:
        return Check("queue", Health.OK, "nothing waits")
    queued = sum(run.status is RunStatus.QUEUED for run in waiting)
    told = f"{queued} queued, {len(waiting) - queued} running"
    if served:
        return Check("queue", Health.OK, told)
    remedy = f"Start one: tarantella {'worker' if settings.broker_url else 'serve'}{starting}"
    return Check("queue", Health.FAIL, f"{told}, and no worker lives that would work on them", remedy)


def _schedules(kept: Timekeeping, starting: str) -> Check:
    """Jobs run by themselves only while a server looks at the clock."""
    paused = f", {kept.paused} paused" if kept.paused else ""
    told = f"{kept.active} kept{paused}" if kept.active or kept.paused else "none"
    if kept.late_seconds <= SCHEDULES_MAY_LAG:
        return Check("schedules", Health.OK, told)
    late = f"{kept.overdue} late, one by {kept.late_seconds / 60:.0f} minutes: no server is there that keeps them"
    return Check("schedules", Health.FAIL, f"{told}; {late}", f"Start one: tarantella serve{starting}")


def _stuck(name: str, run_ids: list[str], suffix: str) -> Check:
    if not run_ids:
        return Check(name, Health.OK, "none")
    remedy = f"Go on: tarantella runs resume {run_ids[0][-12:]}{suffix}"
    return Check(name, Health.WARN, f"{len(run_ids)} to be resumed, cancelled or deleted", remedy)


def _order_of_time(newest: float) -> Check:
    ahead = newest - time.time()
    if ahead > CLOCK_MAY_LAG:
        return Check(
            "time",
            Health.WARN,
            f"the newest run was made {ahead / 60:.0f} minutes in the future",
            "Set the clock of this machine.",
        )
    return Check("time", Health.OK, "runs and clock agree")
