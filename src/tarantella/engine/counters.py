"""What a worker did, counted in the names and the form that Prometheus reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tarantella.domain.page import PageState
from tarantella.engine.groups import Group

Labels = tuple[tuple[str, str], ...]

HELP = {
    "tarantella_pages_total": "Pages that ended, by state and reason.",
    "tarantella_requests_total": "Requests that were sent, by strategy.",
    "tarantella_failures_total": "Attempts that failed, by failure code.",
    "tarantella_response_bytes_total": "Bytes of response bodies.",
    "tarantella_records_total": "Records that were stored.",
    "tarantella_settles_total": "Settles that were committed.",
    "tarantella_lost_pages_total": "Pages that were somebody else's when they were to be settled.",
}


class Counters:
    """Counts that only grow."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, Labels]] = Counter()

    def count(self, groups: Sequence[Group], lost: int) -> None:
        """Add what one settle stored, and how many pages were lost to it."""
        self._add("tarantella_settles_total", 1)
        self._add("tarantella_lost_pages_total", lost)
        for group in groups:
            pages = len(group.outcomes)
            self._add("tarantella_records_total", group.records)
            if group.state is not PageState.PENDING:
                self._add("tarantella_pages_total", pages, ("state", group.state), ("reason", group.reason or ""))
            if group.strategy is not None:
                self._add("tarantella_response_bytes_total", group.bytes)
                self._add("tarantella_requests_total", pages, ("strategy", group.strategy))
            if group.failure is not None:
                self._add("tarantella_failures_total", pages, ("code", group.failure))

    def _add(self, name: str, amount: int, *labels: tuple[str, str]) -> None:
        self._counts[name, labels] += amount

    def series(self) -> Counter[str]:
        """What was counted, by its name and labels as Prometheus writes them."""
        return Counter({_series(name, labels): value for (name, labels), value in self._counts.items()})


def exposition(series: Mapping[str, int]) -> Iterator[str]:
    """Counts by name and labels as the lines of Prometheus' text format."""
    for name, text in HELP.items():
        yield f"# HELP {name} {text}"
        yield f"# TYPE {name} counter"
        for counted, value in sorted(series.items()):
            if counted.partition("{")[0] == name:
                yield f"{counted} {value}"


def _series(name: str, labels: Labels) -> str:
    inside = ",".join(f'{label}="{content}"' for label, content in labels)
    return f"{name}{{{inside}}}" if inside else name
