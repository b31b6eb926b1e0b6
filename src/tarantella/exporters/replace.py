"""A file that is either the old one or the new one, whatever happens in between."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from stat import S_IMODE
from typing import BinaryIO

from tarantella import crashpoints

_BUFFER = 1 << 20


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file beside `path` that takes its place if all goes well, and vanishes if not."""
    # A name of its own length: that of the destination may be as long as names can be.
    prefix = f".tarantella-{blake2b(os.fsencode(path.name), digest_size=8).hexdigest()}-"
    _remove_leftovers(path.parent, prefix)
    temporary = path.with_name(f"{prefix}{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb", buffering=_BUFFER) as out:
            # Held for as long as the file is written: who can have it knows that the writer is dead.
            fcntl.flock(out, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                os.fchmod(out.fileno(), S_IMODE(path.stat().st_mode))
            yield out
            out.flush()
            os.fsync(out.fileno())
            crashpoints.hit("export.before_rename")
            temporary.replace(path)
            crashpoints.hit("export.after_rename")
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _remove_leftovers(folder: Path, prefix: str) -> None:
    """Remove what exports to this destination left behind when they were killed."""
    for leftover in folder.glob(f"{prefix}*.part"):
        with suppress(OSError), leftover.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            leftover.unlink()


def _sync_folder(folder: Path) -> None:
    # Not every file system can; then the rename is as durable as it gets.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
