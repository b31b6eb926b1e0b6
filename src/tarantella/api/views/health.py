"""How the server is, as clients see it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tarantella.api.views.base import Told


class Alive(Told):
    """The process answers."""

    status: Literal["ok"] = Field(description="Always `ok`: who can't say so does not answer.", examples=["ok"])
    version: str = Field(description="The version of Tarantella.", examples=["0.1.0"])


class Ready(Told):
    """Work gets done."""

    status: Literal["ready"] = Field(description="Always `ready`; otherwise the answer is 503.", examples=["ready"])
    store: str = Field(description="`ok` when the database answers.", examples=["ok"])
    engines: str = Field(description="`working`, or `idle` when there is nothing to do.", examples=["working"])
