"""The page about hostile input names tests that exist, and leaves no row out."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "hostile-input.md").read_text()
ROWS = {*range(1, 30), 30, 31, 32}


def test_every_test_that_is_named_is_there() -> None:
    named = re.findall(r"`(tests/[^`]+)`", PAGE)
    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_every_row_is_there() -> None:
    assert {int(number) for number in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)} == ROWS


def test_every_file_of_hostile_tests_is_named() -> None:
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "integration" / "hostile").glob("test_*.py")}
    assert [name for name in sorted(files) if name not in PAGE] == []
