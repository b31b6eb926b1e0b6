"""How often a worker does what, and after how long others may think it dead."""

from __future__ import annotations

from tarantella.domain.struct import Frozen, replace


class Timing(Frozen):
    """All in seconds. A worker stops dialling some time before others may take its lanes."""

    tick: float = 1.0
    beat: float = 5.0
    duty: float = 5.0
    dials_nothing_after: float = 45.0  # without a confirmed beat of its own
    thought_dead_after: float = 60.0  # without a beat that others see
    looks_at_most_apart: float = 10.0  # the database must have answered throughout: a longer gap starts the watch anew

    @classmethod
    def of_life(cls, seconds: float) -> Timing:
        """As usual for a worker that is thought dead after so long.

        What depends on that is shorter or longer in proportion; but nobody beats less often than usual, because whoever
        shows what workers do looks at their beats, too.
        """
        usual = cls()
        share = seconds / usual.thought_dead_after
        return replace(
            usual,
            beat=min(usual.beat, usual.beat * share),
            duty=min(usual.duty, usual.duty * share),
            dials_nothing_after=usual.dials_nothing_after * share,
            thought_dead_after=seconds,
            looks_at_most_apart=usual.looks_at_most_apart * share,
        )

    def __post_init__(self) -> None:
        if not self.beat < self.dials_nothing_after < self.thought_dead_after:
            raise ValueError(
                "A worker must beat before it stops dialling, and stop dialling before it is thought dead."
            )
