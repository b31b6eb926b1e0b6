"""Named places where a test can make the process die, as a power cut would.

With TARANTELLA_CRASH_AT=k in the environment the k-th place that is reached ends the process at once;
TARANTELLA_CRASH_NAME=prefix counts only the places whose name begins so. Without them nothing happens.
"""

from __future__ import annotations

import os

EXIT_CODE = 86

_at = int(os.environ.get("TARANTELLA_CRASH_AT", "0"))
_prefix = os.environ.get("TARANTELLA_CRASH_NAME", "")
_reached = 0


def hit(name: str) -> None:
    """Die here if it is this place's turn."""
    global _reached
    if not _at or not name.startswith(_prefix):
        return
    _reached += 1
    if _reached == _at:
        os._exit(EXIT_CODE)
