"""Artifacts, as clients see them."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import Field

from tarantella.api.views.base import Told, moment
from tarantella.domain.url import redact
from tarantella.services import artifacts


class ArtifactView(Told):
    """Something kept of a page beside its record."""

    id: str = Field(examples=["17-screenshot"])
    kind: str = Field(description="screenshot or html.")
    page_id: int
    url: str | None = Field(description="The address of the page.")
    content_type: str = Field(description="As which it is given; HTML is given as text.")
    bytes: int
    created_at: datetime

    @classmethod
    def of(cls, told: artifacts.Told) -> Self:
        kept = told.kept
        return cls(
            id=kept.id,
            kind=kept.kind,
            page_id=kept.page_id,
            url=redact(told.url) if told.url is not None else None,
            content_type=artifacts.CONTENT_TYPES[kept.kind],
            bytes=kept.bytes,
            created_at=moment(kept.stored_at),
        )
