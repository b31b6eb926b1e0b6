"""The files below a folder. Links are followed as long as they stay below it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from tarantella.domain.struct import Frozen
from tarantella.services.inventory.contract import MOST_PROBLEMS, Found

_LEADS_OUT = "a link leads out of the inventory, and is not followed"


class _Folder(Frozen):
    path: str  # as it is called in the inventory
    real: str  # where it is
    came_by: tuple[str, ...]  # the folders of the links that led here


class Disk:
    """An inventory on disk. However many files there are, it holds no more than the folders that are still to be read."""

    def __init__(self, root: Path) -> None:
        self.name = str(root)
        self.problems: list[str] = []
        self._root = os.path.realpath(root)

    def list(self, folder: str, depth: int | None) -> Iterator[Found]:
        real = os.path.realpath(f"{self._root}/{folder}")
        if not _is_below(real, self._root):
            self._tell(folder, _LEADS_OUT)
            return
        todo = [(_Folder(folder, real, ()), 1)]
        while todo:
            current, level = todo.pop()
            for entry in self._entries(current):
                path = f"{current.path}/{entry.name}" if current.path else entry.name
                found = self._looked_at(entry, path, current)
                if isinstance(found, Found):
                    yield found
                elif found is not None and (depth is None or level < depth):
                    if _is_below(found.real, self._root):
                        todo.append((found, level + 1))
                    else:
                        self._tell(path, _LEADS_OUT)

    def _entries(self, folder: _Folder) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(folder.real) as entries:
                yield from entries
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            self._tell(folder.path, error.strerror or str(error))

    def _looked_at(self, entry: os.DirEntry[str], path: str, within: _Folder) -> Found | _Folder | None:
        """A file, a folder to go on in, or nothing of either kind."""
        try:
            if entry.is_symlink():
                return self._behind(entry, path, within)
            if entry.is_dir(follow_symlinks=False):
                return _Folder(path, entry.path, within.came_by)
            facts = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None  # it went while we looked, or is a link to nothing
        except OSError as error:
            return Found(path, 0, 0.0, error.strerror or str(error))
        return Found(path, facts.st_size, facts.st_mtime) if stat.S_ISREG(facts.st_mode) else None

    def _behind(self, link: os.DirEntry[str], path: str, within: _Folder) -> Found | _Folder | None:
        real = os.path.realpath(link.path)
        facts = link.stat()
        if stat.S_ISDIR(facts.st_mode):
            came_by = (*within.came_by, within.real)
            # A link to a folder that it is in itself would lead around for ever.
            around = any(_is_below(each, real) for each in came_by)
            return None if around and _is_below(real, self._root) else _Folder(path, real, came_by)
        if not stat.S_ISREG(facts.st_mode):
            return None
        trouble = None if _is_below(real, self._root) else _LEADS_OUT
        return Found(path, facts.st_size, facts.st_mtime, trouble)

    def _tell(self, path: str, what: str) -> None:
        named = os.fsencode(path).decode("utf-8", "replace") or "the folder itself"
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(f"{named}: {what}")


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
