"""A browser file: how pages are treated in a browser, written down in YAML or JSON."""

from __future__ import annotations

from pathlib import Path

from tarantella.domain.browsing import Browsing
from tarantella.domain.errors import InvalidInput
from tarantella.services.fields_file import parsed_file

_REMEDY = "docs/browser.md shows what it can say."


def read_browsing_file(path: Path) -> Browsing:
    """Raises InvalidInput that names the file and, where it can, the line or the key."""
    try:
        return Browsing.from_json(parsed_file(path, "browser_file", _REMEDY) or {})
    except InvalidInput as error:
        message = error.message if str(path) in error.message else f"{path}: {error.message}"
        raise InvalidInput(message, remedy=error.remedy or _REMEDY, field=error.field) from None
