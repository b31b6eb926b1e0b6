"""How a browser treats each page of a run: what it waits for, what it does there, what it leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from tarantella.domain.errors import InvalidInput

# What a page can ask for and a browser can go without.
BLOCKABLE = ("image", "font", "media", "stylesheet")
LONGEST_SELECTOR = 2_000


@dataclass(frozen=True, slots=True)
class Browsing:
    """What is not said is as usual: the page is read when its network has been quiet for a moment."""

    wait_for: str | None = None  # a CSS selector; the page is read when something matches it
    quiet_ms: int = 500
    block: tuple[str, ...] = ("image", "font", "media")

    def __post_init__(self) -> None:
        if not 0 <= self.quiet_ms <= 10_000:
            raise _wrong("quiet_ms", f"{self.quiet_ms} is not between 0 and 10000", "Choose a value in that range.")
        if self.wait_for is not None and not 0 < len(self.wait_for.strip()) <= LONGEST_SELECTOR:
            raise _wrong("wait_for", "that is no selector", "Give a CSS selector, like `.price`.")
        for kind in self.block:
            if kind not in BLOCKABLE:
                raise _wrong("block", f"there is no {kind!r}", f"Choose among {', '.join(BLOCKABLE)}.")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        known = {each.name for each in fields(cls)}
        for name in data:
            if name not in known:
                raise _wrong(name, "there is no such option", f"Choose among {', '.join(sorted(known))}.")
        return cls(**{**data, "block": tuple(data.get("block", ("image", "font", "media")))})


def _wrong(name: str, problem: str, remedy: str) -> InvalidInput:
    return InvalidInput(f"browser.{name}: {problem}.", field=f"browser.{name}", remedy=remedy)
