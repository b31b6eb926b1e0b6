"""What is meant by a part of an id: the run, job or task that begins or ends with it, or the latest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarantella.domain.errors import Conflict, NotFound
from tarantella.domain.struct import Frozen

if TYPE_CHECKING:
    from tarantella.cli.connection import Connection

ID_LENGTH = 36
LOOKED_THROUGH = 10_000


class Kind(Frozen):
    """Things that have ids, and where the API lists them, the newest first."""

    noun: str
    place: str
    key: str = "id"


RUNS = Kind("run", "/jobs/runs")
JOBS = Kind("job", "/jobs")
WORKFLOWS = Kind("workflow", "/workflows")
TASKS = Kind("task", "/scraping/tasks", "task_id")


def meant(server: Connection, kind: Kind, text: str) -> str:
    """The id of the one that is meant: all of it, its beginning or end, the beginning of what is shown of it, or `latest`."""
    wanted = text.lower()
    if len(wanted) == ID_LENGTH:
        return wanted
    newest = server.listed(kind.place, 1 if wanted == "latest" else LOOKED_THROUGH)
    ids = [str(each[kind.key]) for each in newest]
    fitting = ids[:1] if wanted == "latest" else [each for each in ids if _fits(wanted, each)]
    if not fitting:
        where = f" at {server.server}" if server.server is not None else ""
        raise NotFound(
            f"There is no {kind.noun} {text!r}{where}.",
            remedy=f"`tarantella {kind.noun}s list` shows those that there are.",
        )
    if len(fitting) > 1:
        raise Conflict(f"More than one {kind.noun} begins or ends with {text!r}.", remedy="Write more of its id.")
    return fitting[0]


def _fits(part: str, whole: str) -> bool:
    from tarantella.cli import words

    return whole.startswith(part) or whole.endswith(part) or words.short_id(whole).startswith(part)
