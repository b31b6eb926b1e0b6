"""Links that were found and don't belong to the run: counted by reason, with a few of them to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Self

from tarantella.domain.struct import Frozen
from tarantella.domain.url import MAX_LENGTH, as_browsers_read, redact

SAMPLES = 3
SAMPLE_LENGTH = 300


class Refused(Frozen):
    """Those of one reason: how many, and what some of them look like."""

    count: int
    samples: tuple[str, ...] = ()

    @classmethod
    def of(cls, hrefs: Sequence[str]) -> Self:
        """They may be as a page writes them. What hides a secret's name is cleaned away before secrets are looked for."""
        samples = [redact(as_browsers_read(href[:MAX_LENGTH]))[:SAMPLE_LENGTH] for href in hrefs[:SAMPLES]]
        return cls(len(hrefs), tuple(samples))

    def __add__(self, other: Refused) -> Refused:
        return Refused(self.count + other.count, (*self.samples, *other.samples)[:SAMPLES])


NOTHING_REFUSED: Mapping[str, Refused] = MappingProxyType({})


def summed(one: Mapping[str, Refused], other: Mapping[str, Refused]) -> Mapping[str, Refused]:
    """Both, reason by reason. Most pages refuse nothing, and cost nothing here."""
    if not other:
        return one
    total = dict(one)
    for reason, more in other.items():
        total[reason] = total[reason] + more if reason in total else more
    return total
