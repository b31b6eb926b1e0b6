"""Why a run does not get on: what keeps each of the hosts at which it has pages."""

from __future__ import annotations

from tarantella.domain.struct import Mutable, field

# What keeps a host, and how that is told of one and of several.
_TOLD = {
    "paused": ("is paused by its policy", "are paused by their policies"),
    "broken": ("has failed too often and its breaker is open", "have failed too often and their breakers are open"),
    "asked": ("must be left alone for a while", "must be left alone for a while"),
    "needs": ("needs {needs}, which no worker has", "need {needs}, which no worker has"),
    "later": ("has only pages that wait for their next try", "have only pages that wait for their next try"),
}
_NEEDED = {"browser": "a browser"}


class Standing(Mutable):
    """A run's hosts, by what keeps them; `owned` is worked on, and `free` could be."""

    hosts: dict[str, int] = field(default_factory=dict)
    needs: str | None = None
    until: float | None = None  # when the first of those that wait for a time is due

    @property
    def is_kept(self) -> bool:
        """Whether something keeps its hosts, beside pages that wait for their next try."""
        return any(kind != "later" for kind in self.hosts)

    def why_a_page_waits(self, now: float) -> str | None:
        """What keeps the one host that this is about; None when pages there only wait for their turn."""
        kind = next((kind for kind in self.hosts if kind in _TOLD and kind != "later"), None)
        return f"its host {self._told(kind, 1)}{self._due(now)}" if kind is not None else None

    def why_it_waits(self, now: float) -> str | None:
        """What keeps all of its hosts; None when one of them is worked on, or could be."""
        if not self.hosts or self.hosts.get("owned") or self.hosts.get("free"):
            return None
        told = [f"{count} {self._told(kind, count)}" for kind, count in self.hosts.items() if kind in _TOLD]
        return f"of its hosts, {', '.join(told)}{self._due(now)}"

    def _told(self, kind: str, count: int) -> str:
        return _TOLD[kind][count > 1].format(needs=_NEEDED.get(self.needs or "", self.needs))

    def _due(self, now: float) -> str:
        return f"; the next is due in {max(0.0, self.until - now):.0f} s" if self.until is not None else ""
