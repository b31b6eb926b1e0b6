"""What a run cost: requests, bytes and time, by strategy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tarantella.domain.strategy import HTTP, STRATEGIES
from tarantella.domain.struct import Frozen, asdict


class Cost(Frozen):
    """What one strategy was used for in a run."""

    pages: int = 0  # that are done
    requests: int = 0
    bytes: int = 0
    milliseconds: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.pages + other.pages,
            self.requests + other.requests,
            self.bytes + other.bytes,
            self.milliseconds + other.milliseconds,
        )


# By strategy, plain HTTP aside: what is not said here was had over HTTP, so that its pages have nothing to add up.
Costs = Mapping[str, Cost]
FREE_OF_CHARGE = Cost()


def costs_of(data: Mapping[str, Mapping[str, int]]) -> Costs:
    return {strategy: Cost(**values) for strategy, values in data.items()}


def costs_json(costs: Costs) -> dict[str, dict[str, int]]:
    return {strategy: asdict(cost) for strategy, cost in costs.items()}


def summed(one: Costs, other: Costs) -> Costs:
    return {name: one.get(name, FREE_OF_CHARGE) + other.get(name, FREE_OF_CHARGE) for name in {**one, **other}}


def told(requests: int, bytes_: int, pages: int, costs: Costs) -> dict[str, Any]:
    """The cost of a run with so many requests, bytes and pages in all."""
    by_strategy = {name: cost.pages for name, cost in costs.items()}
    by_strategy[HTTP.name] = pages - sum(by_strategy.values())
    rendered = sum(cost.milliseconds for name, cost in costs.items() if STRATEGIES[name].renders)
    return {
        "requests": requests,
        "bytes": bytes_,
        "browser_seconds": round(rendered / 1000, 3),
        "pages_by_strategy": {name: count for name in STRATEGIES if (count := by_strategy.get(name, 0))},
    }
