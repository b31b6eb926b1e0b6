"""What is typed becomes what it means, or is refused in words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from tarantella.cli.app import PROGRAM, app
from tarantella.cli.command import Command
from tarantella.cli.reference import commands

given: dict[str, Any] = {}
tool = typer.Typer()


@tool.command(cls=Command)
def use(
    words: list[str] | None = None,
    more: Annotated[list[int] | None, typer.Option()] = None,
    number: int = 1,
    share: float | None = None,
    few: Annotated[int, typer.Option(min=1, max=64)] = 1,
    folder: Path | None = None,
    kind: Literal["a", "b"] = "a",
    loud: bool = False,
    often: Annotated[int, typer.Option("-v", count=True)] = 0,
) -> int:
    given.update(locals())
    return 0


def test_each_kind_becomes_its_value() -> None:
    typed = "--words x --words 7 --more 1 --more 2 --number 12 --share 0.5 --few 64 --folder a/b --kind b --loud -vv"
    assert CliRunner().invoke(tool, typed.split()).exit_code == 0
    assert given == {
        "words": ["x", "7"],
        "more": [1, 2],
        "number": 12,
        "share": 0.5,
        "few": 64,
        "folder": Path("a/b"),
        "kind": "b",
        "loud": True,
        "often": 2,
    }


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("--number many", "'--number': 'many' is not a whole number."),
        ("--number 1.5", "'--number': '1.5' is not a whole number."),
        ("--share much", "'--share': 'much' is not a number."),
        ("--few 0", "'--few': 0 is not in the range from 1 to 64."),
        ("--few 65", "'--few': 65 is not in the range from 1 to 64."),
        ("--more 1 --more x", "'--more': 'x' is not a whole number."),
        ("--kind c", "'--kind': 'c' is not one of a, b."),
        ("--folder=", "'--folder': it is empty. Give a path, or leave the option out."),
    ],
)
def test_what_can_not_be_understood_is_told(typed: str, told: str) -> None:
    done = CliRunner().invoke(tool, typed.split())
    assert done.exit_code == 2
    assert told in " ".join(done.stderr.replace("│", " ").split())


def test_no_parameter_of_any_command_is_left_to_typer() -> None:
    root = get_command(app)
    every = [(PROGRAM, root), *commands(root, PROGRAM)]
    ours = {
        f"{name} {param.name}": "get_runtime_param" in vars(param)
        for name, command in every
        for param in command.get_params(typer.Context(command))
    }
    assert [name for name, known in ours.items() if not known] == []
    assert len(ours) > 100
