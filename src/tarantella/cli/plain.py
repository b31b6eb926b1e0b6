"""Text that stays where it is put: what somebody else wrote must not speak to the terminal."""

from __future__ import annotations

import re
import textwrap

# What is to be copied: a command, or an option with its value.
_TOGETHER = re.compile(r"`[^`]*`|--[a-z][a-z-]* [^\s`]+")
STAYS_TOGETHER = "\x1f"  # a blank at which lines are not broken

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def one_line(text: str) -> str:
    """Text in which nothing can move the cursor. For what is no address: in a selector, //p[@class] is no password."""
    return _CONTROL.sub(" ", text).strip()


def wrapped(text: str, width: int) -> list[str]:
    """Lines that are no longer than that, but for what can't be broken: addresses, and what is to be copied."""
    kept = _TOGETHER.sub(lambda found: found[0].replace(" ", STAYS_TOGETHER), text)
    lines = textwrap.wrap(kept, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace(STAYS_TOGETHER, " ") for line in lines]
