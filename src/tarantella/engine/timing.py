"""How often a worker does what, and after how long others may think it dead."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timing:
    """All in seconds. A worker stops dialling some time before others may take its lanes."""

    tick: float = 1.0
    beat: float = 5.0
    duty: float = 5.0
    dials_nothing_after: float = 45.0  # without a confirmed beat of its own
    thought_dead_after: float = 60.0  # without a beat that others see
    looks_at_most_apart: float = 10.0  # the database must have answered throughout: a longer gap starts the watch anew

    def __post_init__(self) -> None:
        if not self.beat < self.dials_nothing_after < self.thought_dead_after:
            raise ValueError(
                "A worker must beat before it stops dialling, and stop dialling before it is thought dead."
            )
