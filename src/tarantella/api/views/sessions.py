"""Stored sessions, as clients give and see them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

from pydantic import ConfigDict, Field

from tarantella.api.views.base import Said, Told, moment
from tarantella.services.sessions import StoredSession


class SessionGiven(Said):
    """A storage state as Playwright writes it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"cookies": [{"name": "sid", "value": "6f1c", "domain": "example.com", "path": "/"}], "origins": []}
            ]
        }
    )

    cookies: list[dict[str, Any]] = Field(description="Cookies, with name, value and domain.")
    origins: list[dict[str, Any]] = Field(default_factory=list, description="What sites have in their storage.")


class SessionView(Told):
    """What may be told of a session: nothing that is in it."""

    name: str
    cookies: int
    hosts: list[str] = Field(description="Where it is of use.")
    expires_at: datetime | None = Field(description="When the first of its cookies ends.")
    stored_at: datetime

    @classmethod
    def of(cls, session: StoredSession) -> Self:
        return cls(
            name=session.name,
            cookies=session.cookies,
            hosts=session.hosts,
            expires_at=moment(session.expires_at),
            stored_at=moment(session.stored_at),
        )
