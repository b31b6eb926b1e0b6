"""What a user asks of artifacts: which there are, and one of them."""

from __future__ import annotations

import asyncio
from functools import partial

from tarantella.domain.struct import Frozen
from tarantella.engine.artifacts import Artifacts, Kept
from tarantella.services.app import App
from tarantella.store import pages

__all__ = ["CONTENT_TYPES", "Told", "get", "listed"]

# HTML is told as text: what a stranger's page says must not run in the browser of whoever looks at it here.
CONTENT_TYPES = {"screenshot": "image/png", "html": "text/plain; charset=utf-8"}


class Told(Frozen):
    """An artifact, and the address of the page that it is of."""

    kept: Kept
    url: str | None


async def listed(app: App, run_id: str, *, after: tuple[int, str] = (0, ""), limit: int = 1_000_000) -> list[Told]:
    everything = await asyncio.to_thread(_artifacts(app).listed, run_id)
    found = [kept for kept in everything if (kept.page_id, kept.kind) > after][:limit]
    if not found:
        return []
    urls = await app.database.read(partial(pages.urls, run_id=run_id, ids=sorted({kept.page_id for kept in found})))
    return [Told(kept, urls.get(kept.page_id)) for kept in found]


async def get(app: App, run_id: str, artifact_id: str) -> Kept:
    return await asyncio.to_thread(_artifacts(app).get, run_id, artifact_id)


def _artifacts(app: App) -> Artifacts:
    return Artifacts(app.settings.artifacts_dir)
