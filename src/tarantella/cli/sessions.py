"""`tarantella sessions`: logins that runs in a browser can use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tarantella.cli.asking import Asking
from tarantella.cli.command import Command, Group
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, ServerUrl, Verbose

EXAMPLES = """
Examples:
  playwright codegen --save-storage=state.json shop.example
  tarantella sessions import shop state.json
  tarantella sessions import shop cookies.txt     from a browser's extension
  tarantella scrape shop.example/orders --strategy browser --session shop
"""
COLUMNS = {"session": "name", "cookies": "cookies", "hosts": "hosts", "ends": "expires_at", "stored": "stored_at"}

app = typer.Typer(
    rich_markup_mode=None, cls=Group, no_args_is_help=True, epilog=EXAMPLES, help="Logins that runs can use."
)
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of a session.", show_default=False)]


@app.command("import", cls=Command, epilog=EXAMPLES)
def import_(
    name: NameArgument,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A storage state of Playwright's, cookies in JSON, or a cookies.txt.",
            show_default=False,
        ),
    ],
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Store a login under a name, in place of the one that has it. It is kept in a file that only you can read."""
    from tarantella.services.sessions import read_session_file

    session = read_session_file(file)
    return Asking(as_json, verbose, server, data_dir, database_url).one("PUT", _path(name), session.to_json())


@app.command("list", cls=Command)
def list_(
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the stored logins, without what is in them."""
    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.many("/sessions", COLUMNS, 1_000_000, "There are no sessions.")


@app.command(cls=Command)
def delete(
    name: NameArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Forget a login."""
    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.one("DELETE", _path(name), otherwise=f"The session {name} is gone.")


def _path(name: str) -> str:
    from tarantella.cli.connection import part

    return f"/sessions/{part(name)}"
