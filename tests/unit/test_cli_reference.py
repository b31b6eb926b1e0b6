"""The reference in docs/ is what the code says."""

from __future__ import annotations

from pathlib import Path

from typer.main import get_command

from tarantella.cli.app import PROGRAM, app
from tarantella.cli.command import options
from tarantella.cli.reference import (
    CLI_FILE,
    SCHEMA_FILE,
    SETTINGS_FILE,
    cli_reference,
    commands,
    schema_reference,
    settings_reference,
)
from tarantella.domain.field import Field
from tarantella.services.fields_schema import schema
from tarantella.settings import ABOUT

DOCS = Path(__file__).resolve().parents[2] / "docs"
REMEDY = "run `python -m tarantella.cli.reference` and commit what it writes"


def test_the_documented_command_line_is_the_real_one() -> None:
    assert (DOCS / CLI_FILE).read_text(encoding="utf-8") == cli_reference(), REMEDY


def test_the_documented_settings_are_the_real_ones() -> None:
    assert (DOCS / SETTINGS_FILE).read_text(encoding="utf-8") == settings_reference(), REMEDY


def test_the_schema_of_fields_files_is_that_of_the_code() -> None:
    assert (DOCS / SCHEMA_FILE).read_text(encoding="utf-8") == schema_reference(), REMEDY
    said = schema()["$defs"]["field"]["oneOf"][1]["properties"]
    assert set(said) == set(Field.__struct_fields__)


def test_every_option_and_every_setting_is_documented() -> None:
    reference = cli_reference()
    for name, command in commands(get_command(app), PROGRAM):
        section = reference.partition(f"## {name}\n")[2].partition("\n## ")[0]
        for option in options(command):
            assert all(spelled in section for spelled in option.opts), f"{name} {option.name}"
    for name, about in ABOUT.items():
        assert about.description, name
        assert f"| `{name}` |" in settings_reference()
