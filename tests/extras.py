"""Makes a process see only what an extra of the package brings, whatever else is installed beside it."""

from __future__ import annotations

from importlib.metadata import packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_BLIND = """\
import sys


class Blind:
    def find_spec(self, name, path=None, target=None):
        if name in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


HIDDEN = %r
sys.meta_path.insert(0, Blind())
"""


def seeing_only(extra: str, folder: Path) -> dict[str, str]:
    """The environment of a process that finds the package with this extra, and what these need; of the rest nothing."""
    brought = _brought("tarantella", frozenset({extra}))
    hidden = {
        module
        for module, names in packages_distributions().items()
        if not brought & {canonicalize_name(name) for name in names}
    }
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(_BLIND % hidden)
    return {"PYTHONPATH": str(folder)}


def _brought(name: str, extras: frozenset[str]) -> set[str]:
    found: set[str] = set()
    todo = [(name, extras)]
    seen = set(todo)
    while todo:
        name, extras = todo.pop()
        found.add(canonicalize_name(name))
        for needed in map(Requirement, requires(name) or ()):
            wanted = needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras or {""})
            step = (needed.name, frozenset(needed.extras))
            if wanted and step not in seen:
                seen.add(step)
                todo.append(step)
    return found
