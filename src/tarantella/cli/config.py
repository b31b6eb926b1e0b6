"""`tarantella config`: which settings are in force."""

from __future__ import annotations

from typing import Any

import typer

from tarantella.cli.command import Command, Group
from tarantella.cli.options import AsJson

EXAMPLES = """
Settings come from TARANTELLA_* in the environment, from .env, or from
tarantella.toml in the current folder, in this order; options on the command
line come before all of them.

Examples:
  tarantella config show
  TARANTELLA_CONCURRENCY=20 tarantella config show
"""

app = typer.Typer(rich_markup_mode=None, cls=Group, no_args_is_help=True, help="See which settings are in force.")


@app.callback()
def config() -> None:
    pass


@app.command(cls=Command, epilog=EXAMPLES)
def show(as_json: AsJson = False) -> int:
    """Show every setting, its value, and where it came from."""
    from rich.text import Text

    from tarantella.cli.terminal import open_terminal
    from tarantella.domain.struct import asdict
    from tarantella.services.config import DEFAULT, settings_in_force

    terminal = open_terminal()
    settings, wrong = settings_in_force()
    if as_json:
        terminal.show_json([asdict(setting) for setting in settings])
    else:
        for setting in settings:
            origin = "" if setting.origin == DEFAULT else "bold"
            terminal.show(
                Text.assemble(
                    (f"{setting.name:<24}", "cyan"),
                    (f"{_told(setting.value):<20}", origin),
                    (f" {setting.origin}", "dim"),
                )
            )
            terminal.show(Text(f"    {setting.description}", style="dim"))
    if wrong is not None:
        raise wrong
    return 0


def _told(value: Any) -> str:
    if value is None:
        return "(not set)"
    return ", ".join(map(str, value)) or "(none)" if isinstance(value, list) else str(value)
