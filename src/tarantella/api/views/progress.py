"""How far a run is, as clients see it."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field

from tarantella.api.views.base import Told
from tarantella.api.views.runs import CountsView
from tarantella.services.progress import Progress


class Eta(BaseModel):
    """Between so many seconds and so many."""

    low: float
    high: float

    @classmethod
    def of(cls, eta: tuple[float, float] | None) -> Eta | None:
        return None if eta is None else cls(low=round(eta[0], 1), high=round(eta[1], 1))


class ProgressView(Told):
    """How far a run is."""

    run_id: str
    status: str
    phase: str = Field(description="queued, discovering, fetching, waiting, paused, or how it ended.")
    percent: float = Field(description="How much of what was found so far is finished.")
    counts: CountsView
    records: int
    success_rate: float | None
    pages_per_second: float | None
    eta_seconds: Eta | None
    reason: str | None
    last_event: int = Field(description="The number of the newest event.")

    @classmethod
    def of(cls, progress: Progress) -> Self:
        run = progress.run
        return cls(
            run_id=run.id,
            status=run.status.value,
            phase=progress.phase,
            percent=progress.percent,
            counts=CountsView.of(run.counts),
            records=run.records,
            success_rate=progress.success_rate,
            pages_per_second=round(progress.rate, 2) if progress.rate is not None else None,
            eta_seconds=Eta.of(progress.eta),
            reason=run.reason,
            last_event=run.last_event,
        )
