"""Handlers of workflow steps that come along."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping
from typing import Any

from tarantella.domain.errors import InvalidInput
from tarantella.exporters import EXPORTERS, FOLDERS
from tarantella.exporters.export import extension_of
from tarantella.services.app import App
from tarantella.services.export import Target
from tarantella.services.export import export as write
from tarantella.services.runs import get
from tarantella.services.step_handlers import Handler, StepContext
from tarantella.services.target import USUAL_FORMAT


def clean_up(context: StepContext, _: App) -> dict[str, Any]:
    """Remove the workflow's folder and all that its steps have put there."""
    files = sum(1 for each in context.workspace.rglob("*") if each.is_file()) if context.workspace.is_dir() else 0
    shutil.rmtree(context.workspace, ignore_errors=True)
    return {"removed_files": files}


def export(context: StepContext, app: App) -> dict[str, Any]:
    """Write the records of the runs of the steps before, or of the step `of`, into the workflow's folder, in `format`."""
    wanted, form = context.params.get("of"), context.params.get("format", USUAL_FORMAT)
    if form not in (known := (*EXPORTERS, *FOLDERS)):
        raise InvalidInput(
            f"There is no format {str(form)[:50]!r}.", field="format", remedy=f"Take one of {', '.join(known)}."
        )
    found = {name: result["run_id"] for name, result in context.results.items() if "run_id" in result}
    chosen = found if wanted is None else {name: run for name, run in found.items() if name == wanted}
    if not chosen:
        raise InvalidInput("No step before this one has made a run whose records could be exported.")
    files = []
    for number, (name, run_id) in enumerate(chosen.items()):
        # A step may be called anything; a file may not.
        called = "".join(letter if letter.isalnum() or letter in " -_" else "-" for letter in name)
        path = context.workspace / f"{number}-{called}.{extension_of(form)}"
        done = write(app, asyncio.run(get(app, run_id)), Target(form, path))
        files.append({"path": str(done.path), "format": done.format, "records": done.records, "run_id": run_id})
    return {"files": files}


_ALL: Mapping[str, Callable[[StepContext, App], Any]] = {"export": export, "clean_up": clean_up}


def handler(name: str, open_app: Callable[[], App]) -> Handler:
    """One of these, with an application for as long as it is called."""

    def call(context: StepContext) -> Any:
        app = open_app()
        try:
            return _ALL[name](context, app)
        finally:
            app.close()

    return call
