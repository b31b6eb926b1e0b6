"""`tarantella cache`: answers that are kept for development."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tarantella.cli.command import Command, Group
from tarantella.cli.options import AsJson, DataDir

if TYPE_CHECKING:
    from tarantella.services.cache import Summary

EXAMPLES = """
Examples:
  tarantella scrape example.com --depth 2 --cache    fills it, and takes from it
  tarantella cache show
  tarantella cache clear
"""

CacheDir = Annotated[
    Path | None,
    typer.Option("--cache-dir", metavar="DIR", help="Where the cache is.", show_default="DATA_DIR/cache"),
]

app = typer.Typer(rich_markup_mode=None, cls=Group, no_args_is_help=True, help="Answers kept for development.")


@app.command(cls=Command, epilog=EXAMPLES)
def show(as_json: AsJson = False, data_dir: DataDir = None, cache_dir: CacheDir = None) -> int:
    """Tell how much is in the cache."""
    from tarantella.services import cache
    from tarantella.settings import load

    settings = load(data_dir=data_dir)
    folder = cache.folder_of(settings, cache_dir)
    _tell(folder, cache.summary(settings, folder), "", as_json=as_json)
    return 0


@app.command(cls=Command, epilog=EXAMPLES)
def clear(as_json: AsJson = False, data_dir: DataDir = None, cache_dir: CacheDir = None) -> int:
    """Remove every answer from the cache, and nothing else that may be in its folder."""
    from tarantella.services import cache
    from tarantella.settings import load

    settings = load(data_dir=data_dir)
    folder = cache.folder_of(settings, cache_dir)
    _tell(folder, cache.clear(settings, folder), "removed: ", as_json=as_json)
    return 0


def _tell(folder: Path, summary: Summary, did: str, *, as_json: bool) -> None:
    from tarantella.cli import words
    from tarantella.cli.terminal import open_terminal

    terminal = open_terminal()
    if as_json:
        times: dict[str, Any] = {"oldest": words.iso(summary.oldest), "newest": words.iso(summary.newest)}
        terminal.show_json({"folder": str(folder), "answers": summary.entries, "bytes": summary.bytes, **times})
        return
    used = f", last used {words.when(summary.oldest)} to {words.when(summary.newest)}" if summary.entries else ""
    terminal.show(
        f"{did}{words.count(summary.entries, 'answer')}, {words.size(summary.bytes)} in {words.nearby(folder)}{used}"
    )
