"""Text that stays where it is put: what somebody else wrote must not speak to the terminal."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def one_line(text: str) -> str:
    """Text in which nothing can move the cursor. For what is no address: in a selector, //p[@class] is no password."""
    return _CONTROL.sub(" ", text).strip()
