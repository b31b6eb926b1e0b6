"""So many a second, and so many at once: a bucket that fills while nobody asks."""

from __future__ import annotations

from tarantella.domain.struct import Mutable


class Bucket(Mutable):
    """What may be asked of one host. Whoever comes when it is empty is told how long to wait, and has their turn then."""

    rate: float
    burst: int
    level: float = 0.0
    at: float | None = None

    def wait(self, now: float) -> float:
        """Take a turn: seconds until it comes."""
        if self.at is None:
            self.level = float(self.burst)
        else:
            self.level = min(float(self.burst), self.level + max(0.0, now - self.at) * self.rate)
        self.at = now
        self.level -= 1.0
        return max(0.0, -self.level / self.rate)

    def be_stricter(self, rate: float, burst: int) -> None:
        """Somebody asks here who may do so less often: of several limits the strictest counts."""
        self.rate, self.burst = min(self.rate, rate), min(self.burst, burst)
