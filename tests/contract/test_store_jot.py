"""Next to nothing is written, on every database, and nothing is left of it."""

from __future__ import annotations

from tarantella.store import counters
from tarantella.store.database import Database
from tarantella.store.dialect import Place
from tarantella.store.system import jot
from tests.contract.world import World


def test_what_is_jotted_down_is_gone_however_many_do_it(world: World, place: Place) -> None:
    world.write(counters.add, counted={"a": 1})
    another = Database(place)
    for _ in range(3):
        world.write(jot)
        another.write_now(jot)
    another.close()
    assert world.read(counters.totals) == {"a": 1}
