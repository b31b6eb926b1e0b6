"""Recordings: made and judged in the settle of the page that did so, kept for the runs of their job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import orjson

from tarantella.domain.errors import NotFound
from tarantella.domain.outcome import Outcome
from tarantella.domain.recording import Made, Maker, Reading, Recording, Stopped, Worked, rests
from tarantella.domain.recording_request import Template
from tarantella.domain.struct import Frozen
from tarantella.domain.url import stored
from tarantella.store.connection import Row
from tarantella.store.tx import Tx

MOST_OF_JOB = 5  # older ones go, but for runs that may still be at them


class Kept(Frozen):
    """A recording's row."""

    id: str
    job_id: str
    run_id: str | None
    host: str
    purpose: str
    recording: Recording
    created_at: float
    uses: int = 0
    worked_at: float | None = None
    failed_at: float | None = None
    failure: str | None = None

    @classmethod
    def of(cls, row: Row) -> Self:
        secrets = orjson.loads(row.secrets) if row.secrets else ()
        return cls(
            id=row.id,
            job_id=row.job_id,
            run_id=row.run_id,
            host=row.host,
            purpose=row.purpose,
            recording=Recording(
                template=Template.from_json(orjson.loads(row.template)),
                reading=Reading.from_json(orjson.loads(row.reading)),
                shape=row.shape,
                confidence=row.confidence,
                secrets=tuple((tuple(slot), value) for slot, value in secrets),
                made_by=Maker(row.made_by),
            ),
            created_at=row.created_at,
            uses=row.uses,
            worked_at=row.worked_at,
            failed_at=row.failed_at,
            failure=row.failure,
        )


def keep(tx: Tx, runs: Sequence[Row], outcomes: Sequence[Outcome], now: float) -> None:
    """Store what these outcomes learned. The caller holds the rows of their runs."""
    news = [o for o in outcomes if o.recording is not None]
    if not news:
        return
    jobs: Mapping[str, str | None] = {run.id: run.job_id for run in runs}
    for o in sorted(news, key=lambda o: o.recording.id if o.recording is not None else ""):
        learned, job_id = o.recording, jobs.get(o.page.run_id)
        if isinstance(learned, Made):
            if job_id is not None:
                add(tx, learned, job_id, o.page.run_id, now)
        elif isinstance(learned, Worked):
            tx.execute(
                "UPDATE recordings SET uses = uses + 1, worked_at = :now, shape = :shape WHERE id = :id",
                now=now,
                shape=learned.shape,
                id=learned.id,
            )
        elif isinstance(learned, Stopped):
            tx.execute(
                "UPDATE recordings SET failed_at = :now, failure = :why WHERE id = :id AND failed_at IS NULL",
                now=now,
                why=learned.why,
                id=learned.id,
            )


def add(tx: Tx, made: Made, job_id: str, run_id: str | None, now: float) -> None:
    """Store a new recording of a job; it takes the place of those before it."""
    row = _row(made, job_id, run_id, now)
    tx.insert("recordings", list(row), [tuple(row.values())], conflict="(id) DO NOTHING")
    tx.execute(
        "DELETE FROM recordings WHERE job_id = :job AND id NOT IN "
        "(SELECT id FROM recordings WHERE job_id = :job ORDER BY created_at DESC, id DESC LIMIT :most)",
        job=job_id,
        most=MOST_OF_JOB,
    )


def _row(made: Made, job_id: str, run_id: str | None, now: float) -> dict[str, Any]:
    recording = made.recording
    return {
        "id": made.id,
        "job_id": job_id,
        "run_id": run_id,
        "host": stored(recording.template.url).lane,
        "purpose": made.purpose,
        "made_by": recording.made_by,
        "template": _packed(recording.template.to_json()),
        "secrets": _packed(list(recording.secrets)) if recording.secrets else None,
        "reading": _packed(recording.reading.to_json()),
        "shape": recording.shape,
        "confidence": recording.confidence,
        "created_at": now,
    }


def _packed(value: Any) -> str:
    return orjson.dumps(value).decode()


def current(tx: Tx, job_id: str, purpose: str, now: float) -> Kept | None:
    """The recording that the next run of a job can replay, if there is one: the newest, and only while it works."""
    rows = tx.all("SELECT * FROM recordings WHERE job_id = :job ORDER BY created_at DESC, id DESC", job=job_id)
    if not rows or rows[0].failed_at is not None or rows[0].purpose != purpose:
        return None
    newest, *before = rows
    # One that a person brought is meant to be used.
    if newest.made_by == Maker.BROWSER and rests(newest.uses, [(row.uses, row.failed_at) for row in before], now):
        return None
    return Kept.of(newest)


def find(tx: Tx, recording_id: str) -> Kept | None:
    row = tx.first("SELECT * FROM recordings WHERE id = :id", id=recording_id)
    return Kept.of(row) if row is not None else None


def get(tx: Tx, recording_id: str) -> Kept:
    found = find(tx, recording_id)
    if found is None:
        raise NotFound(
            f"There is no recording {recording_id!r}.",
            remedy="`tarantella recordings list` shows those that there are.",
        )
    return found


def listed(tx: Tx, *, limit: int, before: tuple[float, str] | None = None, job_id: str | None = None) -> list[Kept]:
    """The newest recordings first."""
    created, recording_id = before or (1e18, "")
    which = " AND job_id = :job" if job_id is not None else ""
    rows = tx.all(
        f"SELECT * FROM recordings WHERE (created_at, id) < (:created, :id){which} "
        "ORDER BY created_at DESC, id DESC LIMIT :limit",
        **{"created": created, "id": recording_id, "limit": limit, **({"job": job_id} if job_id is not None else {})},
    )
    return [Kept.of(row) for row in rows]


def delete(tx: Tx, recording_id: str) -> None:
    get(tx, recording_id)
    tx.execute("DELETE FROM recordings WHERE id = :id", id=recording_id)
