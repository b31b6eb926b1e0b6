"""The cache of answers, as users see it: how much is in it, and away with it."""

from __future__ import annotations

from pathlib import Path

from tarantella.fetchers.cache import Cache, Summary
from tarantella.settings import Settings

__all__ = ["Summary", "clear", "folder_of", "summary"]


def folder_of(settings: Settings, given: Path | None) -> Path:
    """The folder that was given, or the one in the data directory; absolute, for a run can be resumed from elsewhere."""
    return (given if given is not None else settings.cache_dir).absolute()


def summary(settings: Settings, folder: Path) -> Summary:
    return Cache(folder, settings.cache_bytes).summary()


def clear(settings: Settings, folder: Path) -> Summary:
    """Remove every answer; what there was."""
    return Cache(folder, settings.cache_bytes).clear()
