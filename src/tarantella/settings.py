"""Every setting, what it may be and what it means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tarantella.domain.errors import InvalidInput
from tarantella.domain.url import redact, shown
from tarantella.setting_kinds import (
    Kind,
    address,
    flag,
    modules,
    names,
    networks,
    one_of,
    path,
    redis_address,
    seconds,
    share,
    text,
    whole,
    zone,
)
from tarantella.setting_sources import PREFIX, SOURCES, Found


class About(NamedTuple):
    """What there is to know of a setting."""

    default: Any
    kind: Kind[Any]
    description: str
    variables: tuple[str, ...]  # in the environment, beside the one that all settings have
    is_secret: bool = False  # the whole of it, or a password in it


def setting(default: Any, kind: Kind[Any], description: str, *variables: str, is_secret: bool = False) -> Any:
    return field(
        default=default, repr=not is_secret, metadata={"about": About(default, kind, description, variables, is_secret)}
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be set once for all commands. Options on the command line come first."""

    data_dir: Path = setting(Path("data"), path, "Where the database, locks and exports live.")
    database_url: str | None = setting(
        None,
        address,
        "A PostgreSQL database instead of the file in the data directory: `postgresql://user@host/name`. "
        "Also read from APP_DATABASE_URL.",
        "APP_DATABASE_URL",
        is_secret=True,
    )
    broker_url: str | None = setting(
        None,
        redis_address,
        "The Redis through which Celery wakes the workers of other machines: `redis://host:6379/1`. With it, `tarantella serve` "
        "has no engines of its own unless it is told how many. Also read from APP_CELERY_BROKER_URL.",
        "APP_CELERY_BROKER_URL",
        is_secret=True,
    )
    result_backend: str | None = setting(
        None,
        address,
        "Where Celery may keep results. Tarantella stores none there. Also read from APP_CELERY_RESULT_BACKEND.",
        "APP_CELERY_RESULT_BACKEND",
        is_secret=True,
    )
    redis_url: str | None = setting(
        None,
        redis_address,
        "The Redis over which workers and servers hear from each other; that of the broker if unset. Also read from APP_REDIS_URL.",
        "APP_REDIS_URL",
        is_secret=True,
    )
    max_concurrent_tasks: int = setting(5, whole(1, 1_000), "Runs that may run at the same time; more are queued.")
    engines: int | None = setting(
        None,
        whole(0, 64),
        "Processes that drain a run together, or that `tarantella serve` keeps at work: 1 if unset; with a broker, a server "
        "has none.",
    )
    worker_processes: int | None = setting(
        None, whole(1, 256), "Processes of one `tarantella worker`, each with an engine: one per core if unset."
    )
    engine_slots: int = setting(256, whole(1, 4_096), "Requests in flight in one process, whatever its runs allow.")
    drain_seconds: float = setting(5.0, seconds(600, zero=True), "How long a stop waits for pages that are in flight.")
    host: str = setting("127.0.0.1", text, "The address at which `tarantella serve` listens.")
    port: int = setting(8_000, whole(0, 65_535), "The port at which `tarantella serve` listens; 0 is any that is free.")
    server: str | None = setting(
        None,
        text,
        "The server that commands talk to, as `http://127.0.0.1:8000`; otherwise the one on the data directory.",
    )
    token: str | None = setting(None, text, "The token that commands show to the server.", is_secret=True)
    cleanup_interval: float = setting(
        86_400.0,
        seconds(100 * 366 * 86_400),
        "Seconds for which a task of `/scraping` is kept once it is over. Runs of commands are kept until they are deleted, "
        "those of jobs for as long as their job says.",
    )
    allowed_hosts: tuple[str, ...] = setting(
        (),
        names,
        "Names by which clients may call the server, beside `localhost` and the name of this machine; addresses always may.",
    )
    stall_seconds: float = setting(
        60.0,
        seconds(86_400),
        "An engine of `tarantella serve` that gives no sign of life for so long, or has work and makes no progress, is restarted.",
    )
    worker_life_seconds: float = setting(
        60.0,
        seconds(86_400),
        "A worker of another machine that gives no sign of life for so long is dead, and its work goes on elsewhere. To be the "
        "same on all machines.",
    )
    concurrency: int = setting(10, whole(1, 1_000), "Requests in flight for one run.")
    per_host: int = setting(8, whole(1, 1_000), "Requests in flight to one host at most; it starts with one.")
    max_pages: int = setting(10_000, whole(1, 100_000_000), "Pages in one run at most.")
    attempts: int = setting(
        3,
        whole(1, 100),
        "Requests for one page in all, the first included. Also read from APP_DEFAULT_MAX_ATTEMPTS.",
        "APP_DEFAULT_MAX_ATTEMPTS",
    )
    http_timeout_seconds: float = setting(
        20.0,
        seconds(3_600),
        "Time for one page over HTTP, everything included. Also read from APP_HTTP_TIMEOUT_SECONDS.",
        "APP_HTTP_TIMEOUT_SECONDS",
    )
    browser: str | None = setting(
        None,
        text,
        "The Chromium to use, a program or its path; otherwise one that is found. `off` is none.",
    )
    browser_nav_timeout_ms: int = setting(
        30_000,
        whole(100, 600_000),
        "Milliseconds for a browser to reach a page. Also read from APP_BROWSER_NAV_TIMEOUT_MS.",
        "APP_BROWSER_NAV_TIMEOUT_MS",
    )
    browser_pages: int = setting(4, whole(1, 64), "Pages that are open in the browser of one process at the same time.")
    browser_memory: int = setting(
        2_000_000_000, whole(100_000_000, 2**50), "Bytes that a browser may use before it is replaced by a new one."
    )
    browser_sandbox: bool | None = setting(
        None, flag, "Whether the browser runs in its sandbox; it does, unless we are root, as whom it can't."
    )
    connect_timeout_seconds: float = setting(10.0, seconds(600), "Time to reach a host.")
    timezone: str = setting(
        "UTC", zone, "By the clock of which place jobs run that are scheduled and say nothing of it: `Europe/Berlin`."
    )
    strategy_memory_seconds: float = setting(
        7 * 86_400.0,
        seconds(100 * 366 * 86_400),
        "For how long it is remembered which strategy a site takes; after that it is found out anew.",
    )
    strategy_recheck_share: float = setting(
        0.02,
        share,
        "Of the pages that are rendered because their site has taught that, the share that is asked for over HTTP as well, "
        "to see whether that has come to work.",
    )
    user_agent: str | None = setting(
        None, text, "How we introduce ourselves; an honest one that names Tarantella if unset."
    )
    workflow_handlers: tuple[str, ...] = setting(
        (), modules, "Python modules whose functions may be steps of workflows: `my_steps` allows `my_steps:clean`."
    )
    workflow_steps_at_once: int = setting(4, whole(1, 64), "Handlers of workflows that an engine executes at a time.")
    allow_networks: tuple[str, ...] = setting(
        (),
        networks,
        'Private networks that may be fetched from, as CIDR: `["10.0.0.0/8"]`; in the environment with commas between them.',
    )
    cache_bytes: int = setting(
        1_000_000_000, whole(1_000_000, 2**50), "How large the cache of `tarantella scrape --cache` may become."
    )
    durability: Literal["normal", "full"] = setting(
        "normal",
        one_of("normal", "full"),
        "`full` waits for the disk at every commit: results survive a power cut, not only a crash. PostgreSQL always does.",
    )

    @property
    def database(self) -> Path | str:
        """Where the database is: a file in the data directory, or what the URL names."""
        return self.database_url or self.data_dir / "tarantella.db"

    @property
    def engines_of_a_run(self) -> int:
        """How many processes drain a run that a command keeps."""
        return self.engines or 1

    @property
    def engines_of_a_server(self) -> int:
        """How many processes a server keeps at work; where there is a broker, workers do it."""
        if self.engines is not None:
            return self.engines
        return 0 if self.broker_url else 1

    @property
    def wire_url(self) -> str | None:
        """The Redis over which processes hear from each other, if there is one."""
        return self.redis_url or self.broker_url

    @property
    def workers_dir(self) -> Path:
        """For locks and hints; apart for each database, because nobody knows the workers of another."""
        if not self.database_url:
            return self.data_dir / "workers"
        name = blake2b(redact(self.database_url).encode(), digest_size=4).hexdigest()
        return self.data_dir / f"workers-{name}"

    @property
    def cache_dir(self) -> Path:
        return self.data_dir / "cache"

    @property
    def sessions_dir(self) -> Path:
        return self.data_dir / "sessions"

    @property
    def artifacts_dir(self) -> Path:
        """Apart for each database: artifacts are removed when that has no run of theirs."""
        return self.data_dir / self.workers_dir.name.replace("workers", "artifacts")

    @property
    def workspaces_dir(self) -> Path:
        """Where steps of workflows may keep files; apart for each database, as artifacts are."""
        return self.data_dir / self.workers_dir.name.replace("workers", "workflows")

    @property
    def exports_dir(self) -> Path:
        return self.data_dir / "exports"


ALL_OF_THEM = "`tarantella config show` lists all of them."
ABOUT: dict[str, About] = {each.name: each.metadata["about"] for each in fields(Settings)}


def variables_of(name: str) -> list[str]:
    """All names under which a setting is read from the environment, the usual one first."""
    return [f"{PREFIX}{name}".upper(), *ABOUT[name].variables]


VARIABLES = {variable: name for name in ABOUT for variable in variables_of(name)}


# What processes that work on the same runs have to agree upon.
SHARED = (
    "database_url",
    "broker_url",
    "result_backend",
    "redis_url",
    "max_concurrent_tasks",
    "engine_slots",
    "drain_seconds",
    "cleanup_interval",
    "worker_life_seconds",
)


def shared_environment(settings: Settings) -> dict[str, str]:
    """What a child process is told. Not as arguments: everybody on the machine can read those, and there may be passwords among them."""
    values = {name: getattr(settings, name) for name in SHARED}
    return {variables_of(name)[0]: "" if value is None else str(value) for name, value in values.items()}


def load(**given: Any) -> Settings:
    """The settings in force, with what was given on the command line on top."""
    values = {name: _said(name, value) for name, value in given.items() if value is not None}
    for found in _set_somewhere():
        if found.name not in ABOUT:
            raise _stranger(found)
        if found.name not in values:
            values[found.name] = _checked(found)
    return Settings(**values)


def _said(name: str, value: Any) -> Any:
    """An empty text was most likely meant to be something: `--database-url "$URL"` would use another database."""
    if value == "":
        raise InvalidInput(f"{name} is given, and is empty.", field=name, remedy="Give a value, or leave it out.")
    return _checked(Found(name, value, "as given"))


def _set_somewhere() -> Iterator[Found]:
    for source in SOURCES:
        yield from source(VARIABLES)


def _checked(found: Found) -> Any:
    try:
        return ABOUT[found.name].kind(found.value)
    except ValueError as error:
        raise InvalidInput(
            f"The setting {found.name!r} ({found.place}) is not right: {error}{_instead_of(found)}.",
            field=found.name,
            remedy=ALL_OF_THEM,
        ) from None


def _instead_of(found: Found) -> str:
    """What it is; but of a secret that can't be understood nobody knows which part of it is one."""
    return "" if ABOUT[found.name].is_secret else f", not {shown(str(found.value))}"


def _stranger(found: Found) -> InvalidInput:
    """A name that is nobody's is most likely a slip of the pen, and its value would be missed in silence."""
    from difflib import get_close_matches

    # What they all begin with would make any two of them alike.
    prefix = PREFIX if found.name.startswith(PREFIX) else ""
    known = [name.removeprefix(prefix) for name in (VARIABLES if prefix else ABOUT) if name.startswith(prefix)]
    likely = get_close_matches(found.name.removeprefix(prefix), known, 1, cutoff=0.7)
    remedy = f"Did you mean {prefix}{likely[0]}? {ALL_OF_THEM}" if likely else ALL_OF_THEM
    return InvalidInput(f"There is no setting {shown(found.name)} ({found.place}).", field=found.name, remedy=remedy)
