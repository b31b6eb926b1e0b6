"""Whether there is a browser on this machine, and where. Nothing is started or imported for that."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OFF = "off"
REMEDY = "run `make setup-browser`, or name one with TARANTELLA_BROWSER=/path/to/chromium"
_APPLICATIONS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
# Where Playwright keeps browsers that it has downloaded itself, and where the program is in there.
_CACHES = {"linux": "~/.cache/ms-playwright", "darwin": "~/Library/Caches/ms-playwright"}
_PROGRAMS = (
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/Chromium.app/Contents/MacOS/Chromium",
    "chromium-*/chrome-mac*/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
)


class Finding(NamedTuple):
    """The browser's program; or what is missing, in words."""

    program: str | None = None
    missing: str = ""


def find_browser(named: str | None = None) -> Finding:
    """The browser that is named, else one of the system, else Playwright's own."""
    if named is not None and named.lower() == OFF:
        return Finding(missing="The browser is switched off (TARANTELLA_BROWSER=off).")
    if importlib.util.find_spec("playwright") is None:
        return Finding(missing="Playwright, which drives the browser, is not installed: run `make setup-browser`.")
    if named is not None:
        program = shutil.which(os.path.expanduser(named))  # noqa: PTH111 - it may be a name as well as a path
        return Finding(program, "" if program else f"There is no browser {named}, as TARANTELLA_BROWSER says.")
    program = next(_candidates(), None)
    return Finding(program, "" if program else "There is no Chromium on this machine: " + REMEDY + ".")


def _candidates() -> Iterator[str]:
    for name in NAMES:
        if (found := shutil.which(name)) is not None:
            yield found
    for place in _APPLICATIONS:
        if os.access(place, os.X_OK):
            yield place
    cache = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or _CACHES.get(sys.platform, "~")).expanduser()
    for pattern in _PROGRAMS:
        # The newest last: they are numbered.
        yield from (str(place) for place in sorted(cache.glob(pattern), reverse=True) if os.access(place, os.X_OK))
