"""What a JSON value holds and where, looked at in bounded time however large or deep it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any, TypeAlias

# A way into a value: a key, a number in a list, or None for each of a list.
Step: TypeAlias = str | int | None
Path: TypeAlias = tuple[Step, ...]

MOST_NODES = 200_000
DEEPEST = 24
MOST_IN_LIST = 200  # of a list of plain values, as many as a field takes
SAMPLED = 20  # of the items of a list, those that tell what all of them have


def path_of(steps: Sequence[Any]) -> Path:
    """A way as it was stored."""
    return tuple(steps)


def told(path: Path) -> str:
    """A way in the words of JMESPath, for people."""
    text = ""
    for step in path:
        if step is None:
            text += "[]"
        elif isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text or "@"


def at(value: Any, path: Path) -> Any:
    """What stands there; None where nothing does, and a list where the way leads through each of a list."""
    for number, step in enumerate(path):
        if step is None:
            if not isinstance(value, list):
                return None
            rest = path[number + 1 :]
            found = (at(each, rest) for each in value[:MOST_IN_LIST])
            return [each for each in found if each is not None]
        if isinstance(step, int):
            if not isinstance(value, list) or not -len(value) <= step < len(value):
                return None
            value = value[step]
        else:
            if not isinstance(value, dict):
                return None
            value = value.get(step)
        if value is None:
            return None
    return value


def walk(value: Any, *, most: int = MOST_NODES, deepest: int = DEEPEST) -> Iterator[tuple[Path, Any]]:
    """Every value in it with the way there, from the top down; of long lists only the beginning."""
    ahead: list[tuple[Path, Any]] = [((), value)]
    left = most
    while ahead and left > 0:
        level: list[tuple[Path, Any]] = []
        for path, here in ahead:
            yield path, here
            left -= 1
            if left <= 0:
                return
            if len(path) >= deepest:
                continue
            if isinstance(here, dict):
                level += [((*path, key), each) for key, each in islice(here.items(), left)]
            elif isinstance(here, list):
                level += [((*path, number), each) for number, each in enumerate(here[: min(left, SAMPLED)])]
            if len(level) > left:
                del level[left:]
        ahead = level


def lists(value: Any) -> Iterator[tuple[Path, list[Any]]]:
    """The lists of objects in it, those on top first."""
    for path, here in walk(value):
        if isinstance(here, list) and here and all(isinstance(each, dict) for each in here[:SAMPLED]):
            # A list within another would be a part of an item.
            if not any(isinstance(step, int) for step in path):
                yield path, here


def leaves(value: Any, *, most: int = 2_000) -> dict[Path, Any]:
    """The plain values in it. A list of them, or of objects that have them, is one value: the list."""
    found: dict[Path, Any] = {}
    for path, here in walk(value, most=20 * most):
        if len(found) >= most:
            break
        if isinstance(here, list):
            if here and _all_plain(here):
                found[(*path, None)] = at(value, (*path, None))
        elif not isinstance(here, dict):
            found[path] = here
            if any(isinstance(step, int) for step in path):
                each = tuple(None if isinstance(step, int) else step for step in path)
                if each not in found:
                    found[each] = _flat(at(value, each))
    return found


def _flat(value: Any) -> Any:
    """Lists within lists as one."""
    if not isinstance(value, list):
        return value
    return [plain for each in value for plain in (_flat(each) if isinstance(each, list) else [each])][:MOST_IN_LIST]


def _all_plain(values: list[Any]) -> bool:
    return not any(isinstance(each, (dict, list)) for each in values[:MOST_IN_LIST])


def kind(value: Any) -> str:
    """What sort of value it is; a whole number is a number like any other."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "text"
    return "list" if isinstance(value, list) else "object"


def shape(values: Sequence[Any]) -> str:
    """A short mark of how values are built, whatever they say: the same keys with the same kinds give the same mark."""
    found: set[tuple[str, str]] = set()
    for value in values[:SAMPLED]:
        for path, here in walk(value, most=2_000, deepest=8):
            if here is not None:
                found.add((told(tuple(None if isinstance(step, int) else step for step in path)), kind(here)))
    return blake2b(repr(sorted(found)).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
