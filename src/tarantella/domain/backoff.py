"""How long to wait before the next try."""

from __future__ import annotations

from tarantella.domain.errors import InvalidInput
from tarantella.domain.struct import Frozen

RETRY_AFTER_CAP = 3_600.0


class Backoff(Frozen):
    """`min(cap, base · factor^(n−1))` seconds after the n-th failure, and up to `jitter` more of it."""

    base: float = 10.0
    factor: float = 3.0
    cap: float = 300.0
    jitter: float = 0.1

    def __post_init__(self) -> None:
        for name, low, high in _BOUNDS:
            value = getattr(self, name)
            if not (low <= value <= high):
                raise InvalidInput(
                    f"The backoff's {name} is {value}, which is not between {low} and {high}.",
                    field=f"backoff.{name}",
                    remedy="Choose a value in that range.",
                )

    def delay(self, failures: int, luck: float) -> float:
        """Seconds to wait after this many failures; luck is a random number between 0 and 1."""
        # The exponent is bounded first: a large count would overflow before the cap could help.
        exponent = min(max(failures - 1, 0), 64)
        return min(self.cap, self.base * self.factor**exponent) * (1 + self.jitter * luck)


_BOUNDS: tuple[tuple[str, float, float], ...] = (
    ("base", 0.0, 86_400.0),
    ("factor", 1.0, 100.0),
    ("cap", 0.0, 86_400.0),
    ("jitter", 0.0, 1.0),
)


def obeyed_retry_after(seconds: float | None) -> float | None:
    """A site's Retry-After as we obey it: never negative, never longer than an hour."""
    if seconds is None:
        return None
    return min(max(seconds, 0.0), RETRY_AFTER_CAP)
