"""What a user asks of recordings: to see them, to bring one along, to be rid of one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

import orjson

from tarantella.domain.errors import InvalidInput
from tarantella.domain.json_tree import shape
from tarantella.domain.recording import Made, Maker, Reading, Recording, purpose_of
from tarantella.domain.recording_finding import Heard, NotFound, find_by_name
from tarantella.domain.recording_paging import Part, Position, find_paging
from tarantella.domain.recording_request import hidden
from tarantella.domain.spec import Spec
from tarantella.domain.struct import replace
from tarantella.domain.url import stored
from tarantella.engine.recording import heard_of
from tarantella.extractors.page import Wants, extract
from tarantella.extractors.recorded import Recorded
from tarantella.services import jobs
from tarantella.services.app import App
from tarantella.services.har import exchanges_of
from tarantella.store import recordings
from tarantella.store.ids import new_id
from tarantella.store.recordings import Kept
from tarantella.store.tx import Tx

__all__ = ["Kept", "delete", "drafted", "get", "listed", "store"]


async def listed(
    app: App, *, limit: int, before: tuple[float, str] | None = None, job_id: str | None = None
) -> list[Kept]:
    return await app.database.read(partial(recordings.listed, limit=limit, before=before, job_id=job_id))


async def get(app: App, recording_id: str) -> Kept:
    return await app.database.read(partial(recordings.get, recording_id=recording_id))


async def delete(app: App, recording_id: str) -> None:
    await app.database.write(partial(recordings.delete, recording_id=recording_id), durable=True, name="recording")


async def drafted(app: App, job_id: str, har: Any, *, follow: bool = True) -> Kept:
    """The recording that a HAR gives for a job; not stored yet. Without `follow`, only the first part of a list is asked for."""
    job = await jobs.get(app, job_id)
    url, spec = jobs.spec_of_job(app, job)
    found = await asyncio.to_thread(_found, spec, url.href, har)
    if isinstance(found, NotFound):
        raise InvalidInput(
            f"Nothing in the HAR can be replayed for this job: {found.why}.",
            remedy="Save the traffic of the page that shows its fields, or name the fields as the answer does.",
            field="har",
        )
    if not follow:
        found = replace(found, reading=replace(found.reading, paging=None))
    purpose = purpose_of(url.href, spec.fields, spec.item)
    return Kept(new_id(), job.id, None, stored(found.template.url).lane, purpose, found, app.now())


def store(tx: Tx, draft: Kept) -> None:
    made = Made(draft.id, draft.purpose, draft.recording)
    recordings.add(tx, made, draft.job_id, draft.run_id, draft.created_at)


def _found(spec: Spec, page_url: str, har: Any) -> Recording | NotFound:
    heard = heard_of(exchanges_of(har))
    if spec.fields and all(field.jmespath for field in spec.fields):
        return _read_by_job(heard, spec, page_url)
    return find_by_name(heard, spec.fields, page_url)


def _read_by_job(heard: Sequence[Heard], spec: Spec, page_url: str) -> Recording | NotFound:
    """The first answer that the job's own fields can read."""
    reading = Reading(page_url=page_url, own=True)
    wants = replace(Wants.of(spec), recorded=Recorded(reading, Position("")), text="none", aside=False)
    for each in heard:
        extracted = extract(orjson.dumps(each.answer), "application/json", wants, each.url)
        found = [record["fields"] for record in extracted.records() if "fields" in record]
        if not found or any(all(record[field.name] is None for record in found) for field in spec.fields):
            continue
        template, paging = each.template, None
        if spec.item is not None:
            template, paging = find_paging([Part(each.template, each.url, each.answer, found, each.link)])
        shown, secrets = hidden(template, keep=[paging.slot] if paging is not None and paging.slot else ())
        return Recording(shown, replace(reading, paging=paging), shape([each.answer]), 1.0, secrets, Maker.HAR)
    return NotFound("the job's fields find nothing in any of its answers")
