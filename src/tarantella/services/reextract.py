"""Looks for other fields in the pages of a run, without fetching them again."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping
from functools import partial
from typing import Any

from tarantella.domain.errors import Gone, InvalidInput
from tarantella.domain.field import FieldSet
from tarantella.domain.struct import replace
from tarantella.engine.reader import MOST_CHILDREN, Readers
from tarantella.exporters.values import to_json
from tarantella.extractors.errors import ExtractionFailed, NotADocument
from tarantella.extractors.page import Extracted, Wants, extract
from tarantella.services.app import App
from tarantella.store import bodies, events, runs
from tarantella.store.bodies import Kept, Reread
from tarantella.store.ids import new_id
from tarantella.store.runs import Run
from tarantella.store.tx import Tx

AT_ONCE = 4 * MOST_CHILDREN
# What a record says of how its page was fetched, which has not changed.
_FETCHED = ("url", "final_url", "depth", "status", "content_type", "fetched_at", "elapsed_ms", "bytes", "from_cache")


async def reextract(app: App, run_id: str, wanted: FieldSet, *, text: str | None = None) -> Run:
    """Make a new run of the kept bodies of another, with these fields. The other one stays as it is."""
    source = await app.database.read(partial(runs.get, run_id=run_id))
    origin = await _run_with_bodies(app, run_id)
    spec = replace(
        source.spec,
        fields=wanted.fields,
        item=wanted.item,
        pagination=None,
        text=text or source.spec.text,
        keep_bodies=False,
        secrets=type(source.spec.secrets)(),
    )
    wants = replace(Wants.of(spec), links=False)
    new = new_id()
    await app.database.write(
        partial(bodies.begin, run_id=new, spec=spec, roots=source.roots, now=app.now()), name="reextract"
    )
    readers = Readers()
    try:
        last = 0
        while kept := await app.database.read(partial(_next_bodies, run_id=origin, last=last)):
            last = kept[-1].page_id
            reread = await asyncio.gather(*(_reread(readers, page, wants) for page in kept))
            add = partial(bodies.add, run_id=new, pages=reread, now=app.now())
            await app.database.write(add, name="reextract")
        finish = partial(bodies.finish, run_id=new, source=origin, now=app.now())
        await app.database.write(finish, durable=True, name="reextract")
    except Gone:
        # Half of a run is none, and nobody would see it. What a database in trouble leaves behind is for the duties: it may
        # have heard of the end without our knowing.
        while not await app.database.write(partial(runs.delete_some, run_id=new, unacknowledged=True)):
            pass
        raise
    finally:
        await readers.close()
    return await app.database.read(partial(runs.get, run_id=new))


def _next_bodies(tx: Tx, run_id: str, last: int) -> list[Kept]:
    runs.still_there(tx, run_id)
    return bodies.after(tx, run_id, last, AT_ONCE)


async def _run_with_bodies(app: App, run_id: str) -> str:
    """The run itself, or the one whose bodies it was made from."""
    history = await app.database.read(partial(events.listed, run_id=run_id, limit=1))
    origin = next((event["meta"].get("reextracted_from") for event in history), None)
    for each in (run_id, origin):
        if each is not None and await app.database.read(partial(bodies.count, run_id=each)) > 0:
            return each
    raise InvalidInput(
        f"The run {run_id} has kept no bodies.",
        remedy="Let a run keep its bodies (keep_bodies) to be able to look again later.",
        field="run",
    )


async def _reread(readers: Readers, page: Kept, wants: Wants) -> Reread:
    body = zlib.decompress(page.compressed)
    url = page.record.get("final_url") or page.record.get("url") or ""
    try:
        # One that could take long is read elsewhere; the others are read here, with a chance for everybody in between.
        if wants.aside:
            extracted = await readers.read(body, page.content_type, wants, url)
        else:
            await asyncio.sleep(0)
            extracted = extract(body, page.content_type, wants, url)
    except (NotADocument, ExtractionFailed) as error:
        extracted = Extracted({"fields": {}, "problems": {"": {"problem": str(error)[:200], "raw": ""}}})
    fetched = {name: page.record[name] for name in _FETCHED if name in page.record}
    return Reread(page.columns, tuple(_record(fetched, data) for data in extracted.records()), extracted.lacking)


def _record(fetched: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    first = {name: fetched[name] for name in ("url", "final_url") if name in fetched}
    return to_json({**first, **data, **fetched}).decode()
