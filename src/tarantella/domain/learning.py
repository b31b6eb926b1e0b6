"""What a site teaches: which strategies gave its pages, which it refused, and what follows from that for the next run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Self

from tarantella.domain.failure import Failure
from tarantella.domain.page import Page
from tarantella.domain.strategy import BROWSER, HTTP
from tarantella.domain.struct import Frozen, Mutable, field
from tarantella.domain.url import redact

# For so long it is remembered what a site has taught.
REMEMBERED_SECONDS = 7 * 86_400.0
# The share of pages that are asked for with a cheaper strategy, too, to see whether it has come to work.
RECHECKED_SHARE = 0.02

# What a site does to a plain client that a browser may get past.
REFUSALS = frozenset({Failure.BLOCKED, Failure.RATE_LIMITED, Failure.NEEDS_RENDER})
# A recheck in which the cheaper strategy gave other records: a refusal, too, if a polite one.
DIFFERENT = "different"

# Of what was seen lately, the last try counts this much, the one before it less, and so on.
NEWEST_COUNTS = 0.2
# A site is said to need a browser where HTTP was refused so often, and nearly always. In between, HTTP is tried first, and
# those pages go on that must. What is believed is believed until it is rather wrong than right.
FEWEST_REFUSALS = 5
NEARLY_ALWAYS = 0.9
LAST_PAGES = 40  # of a host, by which its next pages of the same run are judged
RATHER = 0.5


# What one try has shown: the strategy, and how it was refused, if it was. No class: there is one for every page.
Sight = tuple[str, str | None]


class Sights(Mutable):
    """The same many times over, and the last page at which it was seen."""

    count: int = 0
    page: Page | None = None
    url: str = ""  # of what was no page of a run


class Experience(Frozen):
    """All that was seen of one strategy at one site."""

    ok: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    share: float = 0.0  # of the last tries that were refused
    at: float = 0.0
    url: str = ""
    run_id: str = ""

    @property
    def times_refused(self) -> int:
        return sum(self.refused.values())

    def after(self, seen: dict[str | None, Sights], now: float) -> Self:
        """With these tries added."""
        tries = sum(each.count for each in seen.values())
        refused = Counter(self.refused)
        for refusal, each in seen.items():
            if refusal is not None:
                refused[str(refusal)] += each.count
        new = sum(each.count for refusal, each in seen.items() if refusal is not None) / tries
        weight = 1 - (1 - NEWEST_COUNTS) ** tries if self.at else 1.0
        last = next(reversed(seen.values()))
        page = last.page
        return type(self)(
            ok=self.ok + (seen[None].count if None in seen else 0),
            refused=dict(refused),
            share=self.share + weight * (new - self.share),
            at=now,
            url=redact(page.url) if page is not None else last.url,
            run_id=page.run_id if page is not None else "",
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "refused": dict(self.refused),
            "share": round(self.share, 4),
            "at": self.at,
            "url": self.url,
            "run_id": self.run_id,
        }


Evidence = Mapping[str, Experience]  # by strategy
NONE_YET = Experience()


def evidence_of(data: Mapping[str, Any]) -> Evidence:
    return {name: Experience(**values) for name, values in data.items()}


def added(evidence: Evidence, seen: Mapping[Sight, Sights], now: float, remembers: float) -> Evidence:
    """The evidence with what was seen since; what is older than it is worth makes room for the new."""
    by_strategy: dict[str, dict[str | None, Sights]] = {}
    for (strategy, refusal), sights in seen.items():
        by_strategy.setdefault(strategy, {})[refusal] = sights
    after = dict(evidence)
    for strategy, each in by_strategy.items():
        before = evidence.get(strategy, NONE_YET)
        after[strategy] = (before if now - before.at <= remembers else NONE_YET).after(each, now)
    return after


class Learned(Frozen):
    """The cheapest strategy that works for a site, since when that was last seen, and what it rests on."""

    strategy: str
    at: float
    why: str


def learned(evidence: Evidence, before: str | None) -> Learned | None:
    """What the evidence says; None while it says nothing. `before` is what was believed until now."""
    plain = evidence.get(HTTP.name)
    if plain is None or not plain.at:
        return None
    rendered = evidence.get(BROWSER.name, NONE_YET)
    believed = before == BROWSER.name
    if plain.share < (RATHER if believed else NEARLY_ALWAYS):
        return Learned(HTTP.name, plain.at, f"HTTP gave {_counted(plain)}") if plain.ok else None
    if not rendered.ok or rendered.share >= RATHER or (not believed and plain.times_refused < FEWEST_REFUSALS):
        return None  # nothing is known that works, or it may have been chance
    # It holds for as long as nobody has seen HTTP do better: its last try is what grows old.
    return Learned(BROWSER.name, plain.at, f"HTTP gave {_counted(plain)}; the browser gave {_counted(rendered)}")


def _counted(seen: Experience) -> str:
    """As in: 3 pages, and was refused 12 times (blocked 10, needs_render 2)."""
    told = f"{seen.ok:,} page{'' if seen.ok == 1 else 's'}"
    if not seen.refused:
        return told
    times = seen.times_refused
    codes = ", ".join(f"{code} {count:,}" for code, count in sorted(seen.refused.items()))
    return f"{told}, and was refused {times:,} time{'' if times == 1 else 's'} ({codes})"


def recent(ok: float, refused: float) -> tuple[float, float]:
    """The same counts, of which those that are long ago have faded: a host may turn against us in the middle of a run."""
    fading = min(1.0, LAST_PAGES / (ok + refused))
    return ok * fading, refused * fading


def climbs(ok: float, refused: float) -> bool:
    """Whether the next pages of a host should start higher up, after what became of those before them."""
    return refused >= FEWEST_REFUSALS and refused > ok
