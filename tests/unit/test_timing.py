"""How often a worker shows that it lives."""

from __future__ import annotations

import pytest

from tarantella.engine.timing import Timing


@pytest.mark.parametrize(("life", "beat"), [(6.0, 0.5), (60.0, 5.0), (3_600.0, 5.0)])
def test_a_worker_with_a_long_life_beats_as_often_as_any(life: float, beat: float) -> None:
    timing = Timing.of_life(life)
    assert (timing.beat, timing.thought_dead_after) == (beat, life)
    assert timing.dials_nothing_after == 0.75 * life
