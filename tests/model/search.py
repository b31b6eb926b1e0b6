"""Looks for a story that breaks something: `python -m tests.model.search --minutes 30 --of engines`."""

from __future__ import annotations

import argparse
import logging
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tarantella.domain import breaker
from tarantella.engine import process
from tarantella.log import NAME
from tarantella.store import closing, database, retrying
from tests.model.databases import KINDS, NewDatabase
from tests.model.engines import EngineMachine
from tests.model.machine import SLICE, StoreMachine

MACHINES: dict[str, type[StoreMachine] | type[EngineMachine]] = {"store": StoreMachine, "engines": EngineMachine}
USUAL = settings(
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    database=None,
    print_blob=False,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


@contextmanager
def small_and_quick() -> Iterator[None]:
    """Slices of two pages instead of a thousand, hosts that are given up soon, no rest between transactions, and nothing tuned for a process of its own."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(closing, "AT_ONCE", SLICE)
        patched.setattr(retrying, "AT_ONCE", SLICE)
        # No story is so long that a host would fail as often as it may.
        patched.setattr(breaker, "TRIPS_AFTER", 2)
        patched.setattr(breaker, "PROBES_BEFORE_GIVING_UP", 2)
        patched.setattr(database, "time", SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: None))
        patched.setattr(process, "tune", lambda: None)
        patched.setattr(logging.getLogger(NAME), "disabled", True)
        yield


def search(of: str, new_database: NewDatabase, how: settings, seed: int) -> None:
    """Try stories from this seed on; the shortest that breaks something is the error."""

    machine = MACHINES[of]

    def begin(self: RuleBasedStateMachine) -> None:
        machine.__init__(self, new_database)  # type: ignore[arg-type]

    story = type("Story", (machine,), {"__init__": begin})
    with small_and_quick():
        run_state_machine_as_test(seeded(seed)(story), settings=how)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.model.search", description="Look for a story that breaks something."
    )
    parser.add_argument("--of", choices=sorted(MACHINES), default="store", help="what the stories are about")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--steps", type=int, default=60, help="how long a story is at most")
    parser.add_argument("--database", choices=sorted(KINDS), default="sqlite")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    how = settings(USUAL, max_examples=25, stateful_step_count=options.steps, phases=[Phase.generate, Phase.shrink])
    began, seed = time.monotonic(), options.seed
    with KINDS[options.database]() as new_database:
        while time.monotonic() - began < 60 * options.minutes:
            print(f"seed {seed}, after {time.monotonic() - began:.0f} s", flush=True)
            search(options.of, new_database, how, seed)
            seed += 1
    print(f"Nothing broke in {(seed - options.seed) * how.max_examples} stories.")


if __name__ == "__main__":
    main()
