"""How many requests a host can take at a time, learned from how fast it answers."""

from __future__ import annotations

from tarantella.domain.struct import Struct

# Below this, an answer is quick whatever the host's best was.
QUICK = 0.25
SLOWDOWN = 3.0
SMOOTHING = 0.1
EASE_OFF = 0.7


class Throttle(Struct, frozen=True):
    """Starts with one slot, adds one with every quick answer, gives some back when answers become slow."""

    limit: int
    slots: float = 1.0
    best: float | None = None
    usual: float | None = None

    def after_success(self, latency: float) -> Throttle:
        slots, best, usual = self.slots, self.best, self.usual
        if best is None or latency < best:
            best = latency
        usual = latency if usual is None else usual + SMOOTHING * (latency - usual)
        if usual <= QUICK or usual <= SLOWDOWN * best:
            if slots < self.limit:
                slots = min(slots + 1, float(self.limit))
        elif slots > 1:
            # One step back for each round of slots, so that one slow page doesn't empty them.
            slots = max(1.0, slots - 1 / slots)
        else:
            # Asked for one page at a time the host is slow, too: it isn't our doing, and its best fades.
            best += SMOOTHING * (usual - best)
        return Throttle(self.limit, slots, best, usual)

    def after_trouble(self) -> Throttle:
        """An error is never a reason to go faster."""
        return self._replace(slots=max(1.0, self.slots * EASE_OFF))

    def limited_to(self, limit: int) -> Throttle:
        return self if limit == self.limit else self._replace(limit=limit, slots=min(self.slots, float(limit)))
