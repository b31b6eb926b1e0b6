"""What an error looks like, for the documentation."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from tarantella.api.problems import MEDIA_TYPE


class ProblemView(BaseModel):
    """An error, as RFC 9457 has it. `code` is stable; the sentences may change."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:tarantella:problem:invalid_input",
                    "title": "The request can't be understood as it is",
                    "status": 422,
                    "detail": "timeout_minutes: Input should be less than or equal to 120, not 121.",
                    "code": "invalid_input",
                    "field": "timeout_minutes",
                    "limit": 120,
                    "remedy": "Choose a value as /docs describes it.",
                }
            ]
        }
    )

    type: str = Field(description="A name for this kind of problem.")
    title: str = Field(description="The kind of problem in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What went wrong this time.")
    code: str = Field(description="For programs: it never changes.")
    field: str | None = Field(None, description="The field or parameter that it is about.")
    limit: float | str | None = Field(None, description="The limit that was passed.")
    remedy: str | None = Field(None, description="What to do about it.")
    errors: list[dict[str, Any]] | None = Field(
        None, description="Everything that is wrong, if that is more than one thing."
    )


_WORDS = {
    400: "The body is not JSON, or there is more than one Idempotency-Key.",
    401: "A token is needed.",
    403: "The token may not do this.",
    404: "There is no such thing.",
    409: "The state does not allow it now.",
    413: "The body is too large.",
    415: "The body has to be JSON.",
    422: "A value is not right: `field`, `limit` and `remedy` say which and why.",
    503: "The database is busy, or too many are at it: try again after `Retry-After` seconds.",
}


def not_ready() -> dict[int | str, dict[str, Any]]:
    """The answer of a server that does not get on."""
    answer = problems(503)
    answer[503]["description"] = "The database does not answer, or no engine makes progress: `detail` says which."
    return answer


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that a route may answer with, for the documentation."""
    schema = {"$ref": "#/components/schemas/ProblemView"}
    return {
        status: {"description": _WORDS[status], "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in sorted(statuses)
    }
