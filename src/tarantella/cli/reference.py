"""Writes docs/cli.md, docs/settings.md and docs/fields.schema.json from the code: `python -m tarantella.cli.reference`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

from tarantella.cli import defaults, exits
from tarantella.cli.app import PROGRAM, app
from tarantella.cli.command import arguments, default_of, options, spelling

WRITTEN_BY = "<!-- Written by `python -m tarantella.cli.reference`; a test fails when it differs from the code. -->"
CLI_FILE, SETTINGS_FILE, SCHEMA_FILE = "cli.md", "settings.md", "fields.schema.json"


def main(folder: Path) -> None:
    """Write the files into this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CLI_FILE).write_text(cli_reference(), encoding="utf-8")
    (folder / SETTINGS_FILE).write_text(settings_reference(), encoding="utf-8")
    (folder / SCHEMA_FILE).write_text(schema_reference(), encoding="utf-8")


def cli_reference() -> str:
    """Every command with every option and its default."""
    lines = ["# Command line", "", WRITTEN_BY, "", *_introduction()]
    for name, command in commands(get_command(app), PROGRAM):
        lines += _command(name, command)
    return "\n".join(lines).rstrip() + "\n"


def commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    """All commands that help shows, as they are typed."""
    for name in group.list_commands(None):
        command = group.commands[name]
        if command.hidden:
            continue
        if isinstance(command, TyperGroup):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def _introduction() -> Iterator[str]:
    yield "Data goes to stdout, progress and logs go to stderr. `--help` works everywhere, `--version` tells"
    yield "the version, and `tarantella --install-completion` teaches your shell the commands and options."
    yield ""
    yield "| exit code | means |"
    yield "|---|---|"
    yield from (f"| {code} | {_cell(meaning)} |" for code, meaning in exits.MEANINGS.items())
    yield ""
    yield "Where a default is a [setting](settings.md), the built-in one stands here. `RUN` is the id of a"
    yield "run, the beginning or the end of it, or `latest`. `NO_COLOR`, `TERM=dumb` and `LANG=C` are heeded."
    yield "A terminal gets live progress, everything else gets a line now and then."
    yield ""


def _command(name: str, command: Any) -> Iterator[str]:
    wanted = list(arguments(command))
    yield f"## {name}"
    yield ""
    yield cleandoc(command.help or "")
    yield ""
    yield "```"
    yield " ".join([name, "[OPTIONS]", *(argument.metavar or argument.name or "" for argument in wanted)])
    yield "```"
    yield ""
    yield "| option | default | meaning |"
    yield "|---|---|---|"
    for argument in wanted:
        yield f"| `{argument.metavar}` | | {_cell(argument.help or '')} |"
    for option in options(command):
        default = default_of(option, defaults.BUILT_IN)
        repeated = " Can be given more than once." if option.multiple else ""
        told = f"{option.help}{repeated}"
        yield f"| `{_cell(spelling(option))}` | {_cell(default or '')} | {_cell(told)} |"
    yield ""
    if command.epilog:
        yield "```"
        yield cleandoc(command.epilog)
        yield "```"
        yield ""


def settings_reference() -> str:
    """Every setting with its names, its default and its meaning."""
    from tarantella.setting_sources import TOML
    from tarantella.settings import ABOUT, variables_of

    lines = [
        "# Settings",
        "",
        WRITTEN_BY,
        "",
        "What is set once for all commands. An option on the command line comes first, then the environment,",
        f"then `.env`, then `{TOML}`, both in the current folder; a variable that is empty sets nothing.",
        "`tarantella config show` tells which value is in force, and where it came from.",
        "",
        "```toml",
        f"# {TOML}",
        "concurrency = 20",
        'allow_networks = ["10.0.0.0/8"]',
        "```",
        "",
        "| setting | environment | default | meaning |",
        "|---|---|---|---|",
    ]
    for name, about in ABOUT.items():
        variables = ", ".join(f"`{variable}`" for variable in variables_of(name))
        told = "none" if about.default in (None, ()) else f"`{about.default}`"
        lines.append(f"| `{name}` | {variables} | {told} | {_cell(about.description)} |")
    return "\n".join(lines) + "\n"


def schema_reference() -> str:
    """What a fields file may say, as JSON Schema."""
    from tarantella.services.fields_schema import schema

    return json.dumps(schema(), indent=2) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs"))
