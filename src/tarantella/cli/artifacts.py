"""`tarantella runs artifacts`: what a run in a browser has kept."""

from __future__ import annotations

from pathlib import Path

from tarantella.cli import words
from tarantella.cli.answers import not_ours
from tarantella.cli.asking import Asking
from tarantella.cli.connection import connected
from tarantella.cli.remote_runs import RUNS, found_run, written
from tarantella.cli.shown import show_table
from tarantella.domain.errors import InvalidInput

COLUMNS = {"artifact": "id", "kind": "kind", "bytes": "bytes", "page": "url"}
# As what they come, and how their files are called.
KINDS = {"screenshot": ("image/png", "png"), "html": ("text/plain", "html")}
UNKNOWN = ("", "bin")


def show(asking: Asking, run: str, save: Path | None) -> int:
    """List a run's artifacts, and write them to a folder if one is given."""
    with connected(asking.data_dir, asking.database_url, asking.server, verbose=asking.verbose) as server:
        run_id = found_run(server, run)
        found = server.listed(f"{RUNS}/{run_id}/artifacts", 1_000_000)
        if save is not None:
            _make(save)
            for each in found:
                if Path(each["id"]).name != each["id"]:
                    raise not_ours()  # it would be written elsewhere
                kind, ending = KINDS.get(each["kind"], UNKNOWN)
                chunks = server.download(f"{RUNS}/{run_id}/artifacts/{each['id']}", kind)
                written(save / f"{each['id']}.{ending}", chunks)
        if asking.as_json:
            server.terminal.show_json(found)
        else:
            show_table(server.terminal, found, COLUMNS, "The run has kept nothing.")
            if save is not None and found:
                server.terminal.say(f"{words.count(len(found), 'file')} in {words.nearby(save)}")
    return 0


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"{folder} can't be made: {error.strerror}.", field="save", remedy="Choose another folder with --save."
        ) from None
