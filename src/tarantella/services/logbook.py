"""The one autopilot of a data directory: a lock that it holds for life, and a file that tells how it gets on."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
from contextlib import suppress
from pathlib import Path

import msgspec

from tarantella.domain.autopilot import Flight, Phase
from tarantella.domain.errors import Conflict, StoreBroken
from tarantella.domain.struct import replace
from tarantella.infra.identity import Identity

FOLDER, LOCK, FILE, LOG = "autopilot", "lock", "state.json", "log"
LONGEST_LOG = 10_000_000  # bytes


class Logbook:
    """Held by the autopilot until its process ends, however it ends."""

    def __init__(self, data_dir: Path) -> None:
        folder = data_dir / FOLDER
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Python opens files close-on-exec: no script keeps the lock when we are gone.
            self._lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            remedy = "Choose another folder with --data-dir, or become its owner."
            raise StoreBroken(f"{folder} can't be written: {error.strerror}.", remedy=remedy) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            there = holder(data_dir)
            who = f" (process {there.pid})" if there is not None else ""
            remedy = "`tarantella autopilot stop` stops it; `autopilot status` tells what it does."
            raise Conflict(f"An autopilot is already there for {data_dir}{who}.", remedy=remedy) from None
        try:
            os.truncate(self._lock, 0)
            os.pwrite(self._lock, msgspec.json.encode(Identity.of(os.getpid())), 0)
        except OSError as error:
            os.close(self._lock)
            raise StoreBroken(f"{folder} can't be written: {error.strerror}.", remedy="Make room.") from None
        self._file = folder / FILE

    def write(self, flight: Flight) -> None:
        new = self._file.with_suffix(".new")
        new.write_bytes(msgspec.json.encode(flight) + b"\n")
        new.replace(self._file)

    def cut_log(self) -> None:
        """Put a log away that has become long, in the place of the one before it. We write to its end, wherever that is."""
        log = self._file.with_name(LOG)
        with suppress(OSError):
            if log.stat().st_size > LONGEST_LOG:
                shutil.copyfile(log, log.with_suffix(".old"))
                os.truncate(log, 0)

    def close(self) -> None:
        os.close(self._lock)


def read(data_dir: Path) -> Flight | None:
    """What the autopilot told last, whether or not it lives; None where there was none."""
    try:
        return msgspec.json.decode((data_dir / FOLDER / FILE).read_bytes(), type=Flight)
    except (OSError, msgspec.MsgspecError):
        return None


def living(data_dir: Path) -> Flight | None:
    """What the autopilot told last; as stopped where its process is gone."""
    flight = read(data_dir)
    if flight is None or is_held(data_dir):
        return flight
    return replace(flight, phase=Phase.STOPPED)


def holder(data_dir: Path) -> Identity | None:
    """Who holds the lock; None where nobody does, or nobody can say."""
    if not is_held(data_dir):
        return None
    try:
        found = msgspec.json.decode((data_dir / FOLDER / LOCK).read_bytes(), type=Identity)
    except (OSError, msgspec.MsgspecError):
        return None
    return found if found.is_alive else None


def tell_to_end(data_dir: Path) -> bool:
    """Ask the autopilot to end; False where there is none, or nobody can say which process it is."""
    there = holder(data_dir)
    return there is not None and there.signal(signal.SIGTERM)


def is_held(data_dir: Path) -> bool:
    """Whether an autopilot lives here: the lock goes with its process."""
    try:
        file = os.open(data_dir / FOLDER / LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        # Shared, so that two who look at the same moment don't take each other for the owner.
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


def log_file(data_dir: Path) -> Path:
    return data_dir / FOLDER / LOG
