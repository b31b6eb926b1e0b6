"""A quick look at a site: one for all who ask for it at the same time."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from tarantella.domain.spec import Spec
from tarantella.services.probe import MOST_AT_ONCE, Probed, Prober

NO_TOOLS: Any = None


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that were looked at; each look takes a moment."""
    seen: list[str] = []

    async def look(_: Prober, __: Spec, url: Any) -> Probed:
        seen.append(url.href)
        await asyncio.sleep(0.05)
        return Probed("browser", "an empty page")

    monkeypatch.setattr(Prober, "_look", look)
    return seen


def asked(*addresses: str) -> Counter[str]:
    async def ask() -> list[Probed]:
        prober = Prober(NO_TOOLS)
        return await asyncio.gather(*(prober.resolve(Spec(), address) for address in addresses))

    return Counter(found.strategy for found in asyncio.run(ask()))


def test_however_many_ask_for_one_site_it_is_looked_at_once_and_all_get_the_answer(looks: list[str]) -> None:
    assert asked(*["https://a.example/"] * (3 * MOST_AT_ONCE)) == {"browser": 3 * MOST_AT_ONCE}
    assert looks == ["https://a.example/"]


def test_only_so_many_sites_are_looked_at_at_a_time(looks: list[str]) -> None:
    sites = [f"https://{number}.example/" for number in range(MOST_AT_ONCE + 5)]
    assert asked(*sites) == {"browser": MOST_AT_ONCE, "http": 5}
    assert len(looks) == MOST_AT_ONCE
