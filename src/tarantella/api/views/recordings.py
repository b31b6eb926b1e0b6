"""Recordings, as clients see them: never with a secret."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

from pydantic import ConfigDict, Field

from tarantella.api.views.base import EXAMPLE_ID, Flag, Said, Told, moment
from tarantella.domain.json_tree import told
from tarantella.domain.recording import Paging, Recording
from tarantella.domain.recording_request import name_of
from tarantella.domain.url import redact
from tarantella.services.recordings import Kept

MOST_BODY = 2_000


class RecordingImport(Said):
    """Traffic that a browser saved."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"job_id": EXAMPLE_ID, "har": {"log": {"version": "1.2", "entries": []}}}]}
    )

    job_id: str = Field(max_length=36, description="The job that it is for.", examples=[EXAMPLE_ID])
    har: dict[str, Any] = Field(description="A HAR 1.2 document; only what was answered with JSON is looked at.")
    follow: Flag = Field(True, description="Whether runs follow the list to its end, or take its first part.")


class QuestionView(Told):
    """What is asked. Credentials, and whatever could be one, are `***`."""

    method: str = Field(examples=["GET"])
    url: str = Field(examples=["https://shop.example/api/goods?page=1&api_key=***"])
    headers: dict[str, str]
    body: str | None = Field(description="Its beginning.")


class PagingView(Told):
    """How the next part of a list is asked for."""

    kind: str = Field(description="`number`, `cursor`, `address` (in the answer) or `link` (its header).")
    parameter: str | None = Field(description="What counts, or takes the cursor.", examples=["page"])
    step: int | None
    found_at: str | None = Field(description="Where the answer has the cursor or the address.")
    more_at: str | None = Field(description="Where the answer says whether there is more.")
    total_at: str | None = Field(description="Where the answer says how much there is.")

    @classmethod
    def of(cls, paging: Paging, recording: Recording) -> Self:
        return cls(
            kind=paging.kind,
            parameter=name_of(recording.template, paging.slot) if paging.slot else None,
            step=paging.step if paging.kind == "number" else None,
            found_at=told(paging.path) if paging.path else None,
            more_at=told(paging.more) if paging.more is not None else None,
            total_at=told(paging.total) if paging.total is not None else None,
        )


class RecordingView(Told):
    """A question that a page asked for its data, and how the answer is read."""

    id: str = Field(examples=[EXAMPLE_ID])
    job_id: str
    run_id: str | None = Field(description="The run that made it; null for one that was imported.")
    host: str = Field(description="Whom it asks.")
    status: str = Field(description="`new`, `working`, or `failed`: then it is not used any more.")
    made_by: str = Field(description="`browser` or `har`.")
    created_at: datetime
    uses: int = Field(description="Runs that replayed it.")
    worked_at: datetime | None
    failed_at: datetime | None
    failure: str | None
    confidence: float = Field(description="How sure it is that the fields were found, from 0 to 1.")
    shape: str = Field(description="A mark of how the answer is built: the same keys and kinds give the same.")
    question: QuestionView
    has_secrets: bool = Field(description="Whether something is sent along that is not shown.")
    items: str | None = Field(description="Where the answer has its list; null where it is one record.")
    fields: dict[str, str] = Field(description="Where each field stands in an item.")
    paging: PagingView | None = Field(description="How the list goes on, if runs follow it.")

    @classmethod
    def of(cls, kept: Kept) -> Self:
        recording, reading = kept.recording, kept.recording.reading
        template = recording.template
        return cls(
            id=kept.id,
            job_id=kept.job_id,
            run_id=kept.run_id,
            host=kept.host,
            status="failed" if kept.failed_at is not None else "working" if kept.uses else "new",
            made_by=recording.made_by.value,
            created_at=moment(kept.created_at),
            uses=kept.uses,
            worked_at=moment(kept.worked_at),
            failed_at=moment(kept.failed_at),
            failure=kept.failure,
            confidence=recording.confidence,
            shape=recording.shape,
            question=QuestionView(
                method=template.method,
                url=redact(template.url),
                headers=dict(template.headers),
                body=template.body[:MOST_BODY] if template.body is not None else None,
            ),
            has_secrets=bool(recording.secrets),
            items=told(reading.items) if reading.items is not None else None,
            fields={name: told(place.path) for name, place in reading.places.items()},
            paging=PagingView.of(reading.paging, recording) if reading.paging is not None else None,
        )
