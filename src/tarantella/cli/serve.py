"""The command that serves the API."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from tarantella.cli import exits
from tarantella.cli.command import Command
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir

app = typer.Typer(rich_markup_mode=None)


@app.command(cls=Command)
def serve(
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="PORT", help="The port to listen on.", min=0, max=65_535)
    ] = 8000,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Serve the HTTP API."""
    from tarantella.api.app import make_api
    from tarantella.api.server import make_server
    from tarantella.cli.opening import opened, run_async

    with opened(data_dir, database_url) as tarantella:
        url = f"http://{host}:{port}"
        sys.stdout.write(json.dumps({"url": url}) + "\n" if as_json else f"Tarantella listens on {url}\n")
        sys.stdout.flush()
        run_async(make_server(make_api(tarantella.app), host, port).serve())
    return exits.COMPLETE
