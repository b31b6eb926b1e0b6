"""A folder that is either the old one or the new one, and never one that somebody else made."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tarantella.domain.errors import InvalidInput
from tarantella.exporters.as_markdown import MARK


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """A new folder beside `path` that takes its place if all goes well, and vanishes if not."""
    _check(path)
    temporary = path.with_name(f".tarantella-{secrets.token_hex(8)}.part")
    temporary.mkdir()
    try:
        yield temporary
        _check(path)
        if path.exists():
            old = path.with_name(f".tarantella-{secrets.token_hex(8)}.old")
            path.rename(old)
            temporary.rename(path)
            shutil.rmtree(old)
        else:
            temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _check(path: Path) -> None:
    """Only what an export has written may be removed by one."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise InvalidInput(f"{path} is not a folder.", remedy="Choose another name.", field="out")
    if path.is_dir() and any(path.iterdir()) and not (path / MARK).is_file():
        raise InvalidInput(
            f"{path} has files that no export has written.", remedy="Choose another folder, or empty it.", field="out"
        )
