"""A file that a living process holds locked: who can lock it knows that its process is gone."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Container
from contextlib import suppress
from pathlib import Path

from tarantella.domain.errors import StoreBroken


class Lifeline:
    """This process's own lock, held until it ends, however it ends."""

    def __init__(self, folder: Path, worker_id: str) -> None:
        self.path = lifeline_path(folder, worker_id)
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            # It gets its name when it is locked: whoever finds it unlocked knows that it was left behind.
            unnamed = self.path.with_suffix(".new")
            # Python opens files close-on-exec: no child keeps the lock when we are gone.
            self._file = os.open(unnamed, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            unnamed.rename(self.path)
        except OSError as error:
            raise StoreBroken(
                f"{folder} can't be written: {error}.", remedy="Choose another folder with --data-dir."
            ) from error

    def cut(self) -> None:
        """A clean end: remove the file while it is still locked, so that nobody mistakes it for a death."""
        bury(self.path.parent, self.path.stem)
        os.close(self._file)

    def let_go(self) -> None:
        """An end that nobody was told of: the next who looks finds it out."""
        os.close(self._file)


def lifeline_path(folder: Path, worker_id: str) -> Path:
    return folder / f"{worker_id}.lock"


def is_cut(folder: Path, worker_id: str) -> bool | None:
    """Whether a worker's process is gone; None when its file can't tell (another machine's, or removed)."""
    try:
        file = os.open(lifeline_path(folder, worker_id), os.O_RDWR)
    except OSError:
        return None
    try:
        # Shared, so that two who look at the same moment don't take each other for the owner.
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(file)
    return True


def bury(folder: Path, worker_id: str) -> None:
    """Remove what a worker left in the folder, once its death is recorded."""
    # What can't be removed now is found by whoever sweeps next.
    with suppress(OSError):
        for left in folder.glob(f"{worker_id}.*"):
            left.unlink(missing_ok=True)


def sweep(folder: Path, living: Container[str]) -> None:
    """Remove what was left by processes that died before their worker was known, or after it had retired."""
    with suppress(OSError):
        for left in folder.glob("*.lock"):
            if left.stem not in living and is_cut(folder, left.stem):
                bury(folder, left.stem)
