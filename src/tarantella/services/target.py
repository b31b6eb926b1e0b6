"""Where a run's records are wanted; kept beside the exports, for the command that goes on with the run."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from tarantella.domain.struct import Frozen
from tarantella.exporters import EXPORTERS, FOLDERS
from tarantella.exporters.export import STDOUT
from tarantella.services.app import App

USUAL_FORMAT = "jsonl"


class Target(Frozen):
    """Where records go and how they are written; without a destination, to the exports folder."""

    format: str = USUAL_FORMAT
    destination: str | Path | None = None


def remember(app: App, run_id: str, target: Target) -> None:
    """Keep what was asked for; what is as usual, or went to a stdout that will be gone, needs nothing."""
    if target == Target():
        forget(app, run_id)
    elif target.destination != STDOUT:
        # A run can be resumed from another folder.
        output = str(Path(target.destination).absolute()) if target.destination is not None else None
        path = _path(app, run_id)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        with suppress(OSError):  # a crawl does not fail for this: who goes on can say it again
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                json.dump({"format": target.format, "output": output}, file)
            unfinished.replace(path)


def remembered(app: App, run_id: str) -> Target | None:
    """What was asked for, if anything was."""
    try:
        said = json.loads(_path(app, run_id).read_bytes())
        format_name, output = said["format"], said["output"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    if format_name not in (*EXPORTERS, *FOLDERS):
        return None
    return Target(format_name, Path(output) if isinstance(output, str) else None)


def forget(app: App, run_id: str) -> None:
    with suppress(OSError):
        _path(app, run_id).unlink(missing_ok=True)


def _path(app: App, run_id: str) -> Path:
    return app.settings.exports_dir / f"{run_id}.target.json"
