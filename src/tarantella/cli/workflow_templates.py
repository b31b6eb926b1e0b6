"""`tarantella workflows templates`: definitions that are kept under names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tarantella.cli.asking import Asking
from tarantella.cli.command import Command, Group
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, ServerUrl, Verbose, Yes

EXAMPLES = """
Examples:
  tarantella workflows templates set nightly nightly.yaml
  tarantella workflows templates list
  tarantella workflows create --template nightly --start

A definition that differs from the one before is a new version. Workflows
that there are keep what they were made from.
"""
COLUMNS = {
    "template": "name",
    "version": "version",
    "steps": "definition.steps",
    "workflows are called": "definition.name",
    "changed": "updated_at",
}
TEMPLATE = "/workflows/templates/{}"
NOTHING = "No template is kept: `tarantella workflows templates set NAME FILE` keeps one."

app = typer.Typer(
    rich_markup_mode=None,
    cls=Group,
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="Keep definitions under names.",
)
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of a template.", show_default=False)]


@app.command("list", cls=Command)
def list_(
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the templates by name."""
    from tarantella.cli.connection import connected
    from tarantella.cli.shown import show_table

    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        found = tarantella.listed("/workflows/templates", sys.maxsize)
        if as_json:
            tarantella.terminal.show_json(found)
            return 0
        rows = [
            {**each, "definition": {**each["definition"], "steps": len(each["definition"]["steps"])}} for each in found
        ]
        show_table(tarantella.terminal, rows, COLUMNS, NOTHING)
    return 0


@app.command(cls=Command)
def show(
    name: NameArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show what workflows of this template consist of, and what needs what."""
    from tarantella.cli.connection import connected, part
    from tarantella.cli.workflow_shown import show_plan

    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        found = tarantella.ask("GET", TEMPLATE.format(part(name)))
        if as_json:
            tarantella.terminal.show_json(found)
        else:
            show_plan(tarantella.terminal, found["definition"])
            tarantella.terminal.say(f"This is version {found['version']}.")
    return 0


@app.command("set", cls=Command)
def set_(
    name: NameArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A workflow file, in YAML or JSON.", show_default=False)],
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Keep what is in a file under a name, in place of what was kept there."""
    from tarantella.cli.connection import connected, part
    from tarantella.cli.workflows import of_file
    from tarantella.services.workflow_file import read_workflow_file

    definition = read_workflow_file(file)
    with connected(data_dir, database_url, server, verbose=verbose) as tarantella, of_file(file):
        found = tarantella.ask("PUT", TEMPLATE.format(part(name)), definition)
        if as_json:
            tarantella.terminal.show_json(found)
        else:
            tarantella.terminal.say(f"Template {found['name']} is at version {found['version']}.")
    return 0


@app.command(cls=Command)
def delete(
    name: NameArgument,
    yes: Yes = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Delete a template. Workflows that were made from it stay."""
    from tarantella.cli.confirm import confirmed
    from tarantella.cli.connection import part

    if not yes and not confirmed(f"Delete the template {name}?"):
        typer.echo("Nothing was deleted.", err=True)
        return 0
    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.one("DELETE", TEMPLATE.format(part(name)), otherwise="Deleted.")
