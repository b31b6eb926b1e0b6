"""What a client of the API can be told is not said in the words of the command line."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

from typer.main import get_command

from tarantella.cli.app import app

LOADED = """
import sys, tarantella.api.app
print(*(module.__file__ for name, module in sys.modules.items() if name.startswith("tarantella.") and module.__file__))
"""
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def said_in(file: Path) -> list[str]:
    """The texts of a module, but for what explains it to its readers."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    explained = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in explained
    ]


def test_whatever_the_api_loads_names_only_options_of_the_server_and_of_whole_commands() -> None:
    serve = get_command(app).commands["serve"]  # type: ignore[attr-defined]
    known = {spelling for option in serve.params for spelling in option.opts}
    loaded = subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True, text=True).stdout.split()
    wrong = {
        f"{Path(file).name}: {option}"
        for file in loaded
        for text in said_in(Path(file))
        for option in OPTION.findall(re.sub(r"`tarantella [^`]*`", "", text))
        if option not in known
    }
    assert len(loaded) > 100
    assert wrong == set()
