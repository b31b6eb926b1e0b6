"""Folders for what a browser writes while it runs; those whose process is gone are removed by whoever comes next."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

PREFIX = "tarantella-browser-"
LOCK = "lock"
ABANDONED_SECONDS = 60.0
LONGEST_PLACE = 30


def _place() -> str:
    """Where temporary files go; a browser has a socket among them, and the path of a socket must be short."""
    usual = tempfile.gettempdir()
    return usual if len(usual) <= LONGEST_PLACE else "/tmp"  # noqa: S108 - the folders in it are ours alone


class Profile:
    """A folder that belongs to this process for as long as it holds the lock in it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=_place()))
        # Python opens files close-on-exec: no child keeps the lock when we are gone.
        self._lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def remove(self) -> None:
        """Remove it with all that is in it; a browser on its way out may still be writing there."""
        for _ in range(20):
            shutil.rmtree(self.folder, ignore_errors=True)
            if not self.folder.exists():
                break
            time.sleep(0.1)
        os.close(self._lock)


def sweep() -> None:
    """Remove what was left behind by processes that were killed."""
    for folder in Path(_place()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            try:
                lock = os.open(folder / LOCK, os.O_RDWR)
            except FileNotFoundError:
                # Just made, or left half removed.
                if time.time() - folder.stat().st_mtime > ABANDONED_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
