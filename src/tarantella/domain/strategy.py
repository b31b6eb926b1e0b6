"""How a page can be fetched. A strategy is data: who takes pages up the ladder asks it, and knows none by name."""

from __future__ import annotations

from collections.abc import Mapping

from tarantella.domain.struct import Frozen


class Strategy(Frozen):
    """One way to fetch: its name, whether it runs scripts, and where a refused page goes next."""

    name: str
    renders: bool = False
    escalates_to: str | None = None


HTTP = Strategy("http", escalates_to="browser")
API_REPLAY = Strategy("api_replay", escalates_to="browser")
BROWSER = Strategy("browser", renders=True)

# All that there are. Which of them a worker has is another question: a browser may not be installed.
STRATEGIES: Mapping[str, Strategy] = {each.name: each for each in (HTTP, API_REPLAY, BROWSER)}


def next_strategy(current: str, available: Mapping[str, Strategy]) -> str:
    """Where a refused page goes: up the ladder if that rung is there, otherwise the same again."""
    target = STRATEGIES[current].escalates_to
    return target if target is not None and target in available else current
