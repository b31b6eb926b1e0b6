"""Defaults that come from settings, known here as well so that help appears at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

# Options whose default is the setting of the same name.
BUILT_IN: Mapping[str, str] = {
    "data_dir": "data",
    "database_url": "a SQLite file",
    "engines": "1",
    "broker_url": "none: one machine",
    "processes": "one per core",
    "host": "127.0.0.1",
    "port": "8000",
    "concurrency": "10",
    "per_host": "8",
    "max_pages": "10000",
    "attempts": "3",
    "user_agent": "one that names Tarantella",
    "allow_network": "public addresses only",
    "durability": "normal",
}
SETTING_OF: Mapping[str, str] = {"allow_network": "allow_networks", "processes": "worker_processes"}


def in_force() -> Mapping[str, str]:
    """The default of each such option here and now."""
    if not _something_is_set():
        return BUILT_IN
    from tarantella.domain.errors import TarantellaError
    from tarantella.settings import load

    try:
        settings = load()
    except TarantellaError:
        # The command itself will say what is wrong; help must not.
        return BUILT_IN
    values = {name: getattr(settings, SETTING_OF.get(name, name)) for name in BUILT_IN}
    return {name: _in_words(value) if value not in (None, ()) else BUILT_IN[name] for name, value in values.items()}


def _in_words(value: object) -> str:
    from tarantella.domain.url import redact

    return ", ".join(map(str, value)) if isinstance(value, tuple) else redact(str(value))


def _something_is_set() -> bool:
    """Loading settings takes longer than all the rest of help: first see whether there can be any."""
    return (
        any(name.upper().startswith(("TARANTELLA_", "APP_")) for name in os.environ)
        or Path(".env").exists()
        or Path("tarantella.toml").exists()
    )
