"""`tarantella tokens`: who may talk to a server. Whoever can open the data can make them; the server can't."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tarantella.cli.command import Command, Group
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, Verbose

if TYPE_CHECKING:
    from tarantella.services.tokens import Token

EXAMPLES = """
Examples:
  tarantella tokens create --name ci --scope write
  TARANTELLA_TOKEN=tt_... tarantella tasks submit https://example.com
  tarantella tokens revoke ci

Once there is a token, the server wants to see one, also on this machine.
Without any it listens here only.
"""
ScopeName = Literal["read", "write", "admin"]

app = typer.Typer(
    rich_markup_mode=None,
    cls=Group,
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="Make, list and revoke the tokens that a server lets people in with.",
)


@app.command(cls=Command)
def create(
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="Whose it is, for people.")] = None,
    scope_: Annotated[
        ScopeName,
        typer.Option(
            "--scope",
            metavar="read|write|admin",
            help="read looks at everything; write submits and steers too; admin also says what sites may be asked.",
        ),
    ] = "write",
    as_json: AsJson = False,
    verbose: Verbose = 0,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Make a token. It is shown once, on stdout, and can't be shown again."""
    from tarantella.cli.opening import opened, run_async
    from tarantella.domain.access import SCOPES
    from tarantella.services import tokens

    with opened(data_dir, database_url, verbose=verbose) as tarantella:
        token, text = run_async(tokens.create(tarantella.app, name, SCOPES[scope_]))
        if as_json:
            tarantella.terminal.show_json({**_told(token), "token": text})
        else:
            tarantella.terminal.show(text)
            tarantella.terminal.say("Keep it: only what it was made into is stored, and it can't be shown again.")
    return 0


@app.command("list", cls=Command)
def list_(
    as_json: AsJson = False, verbose: Verbose = 0, data_dir: DataDir = None, database_url: DatabaseUrl = None
) -> int:
    """List the tokens that there are, and those that were revoked."""
    from tarantella.cli.opening import opened, run_async
    from tarantella.cli.shown import show_table
    from tarantella.services import tokens

    with opened(data_dir, database_url, verbose=verbose) as tarantella:
        found = [_told(token) for token in run_async(tokens.listed(tarantella.app))]
        if as_json:
            tarantella.terminal.show_json(found)
        else:
            columns = {"token": "id", "name": "name", "scope": "scope", "made": "created_at", "revoked": "revoked_at"}
            show_table(tarantella.terminal, found, columns, "There are no tokens: only this machine is let in.")
    return 0


@app.command(cls=Command)
def revoke(
    token: Annotated[
        str, typer.Argument(metavar="TOKEN", help="A token: its id, the end of it, or its name.", show_default=False)
    ],
    as_json: AsJson = False,
    verbose: Verbose = 0,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Let a token be of no use any more; servers notice within a second."""
    from tarantella.cli.opening import opened, run_async
    from tarantella.services import tokens

    with opened(data_dir, database_url, verbose=verbose) as tarantella:
        revoked = run_async(tokens.revoke(tarantella.app, token))
        if as_json:
            tarantella.terminal.show_json({"id": revoked.id, "name": revoked.name, "revoked": True})
        else:
            tarantella.terminal.say(f"Token {revoked.name or revoked.id} is of no use any more.")
    return 0


def _told(token: Token) -> dict[str, Any]:
    from tarantella.cli import words

    return {
        "id": token.id,
        "name": token.name,
        "scope": token.scope.word,
        "created_at": words.iso(token.created_at),
        "revoked_at": words.iso(token.revoked_at),
    }
