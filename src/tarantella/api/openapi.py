"""The description of the API, with problems where FastAPI would put errors of its own."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from tarantella.api.views.problem import ProblemView, problems

SUMMARY = "Runs web data collection so that nobody has to watch it."
TAGS: list[dict[str, Any]] = [
    {
        "name": "scraping",
        "description": "One address, what it links to, and an export. A task is a run: its id works below `/jobs/runs`, too.",
    },
    {
        "name": "jobs",
        "description": "What is collected again and again. A run keeps the job as it was when the run was made.",
    },
    {"name": "schedules", "description": "Jobs that run by themselves: when, and what came of it."},
    {"name": "workflows", "description": "Steps that wait for one another: runs of jobs, and handlers."},
    {"name": "gaps", "description": "What is missing, and what came of the scrapers that were to fetch it."},
    {"name": "runs", "description": "Runs, whoever asked for them: watch, steer, explain, collect."},
    {"name": "sites", "description": "Hosts: how they are doing, and what they may be asked."},
    {"name": "recordings", "description": "What pages asked for their data, to be asked again without a browser."},
    {
        "name": "sessions",
        "description": "Logins that jobs can use in a browser. What is in them never comes out again.",
    },
    {"name": "health", "description": "Whether the server is alive, and whether work gets done."},
    {"name": "workers", "description": "The fleet: who works, how they get on, and what woke them."},
    {"name": "system", "description": "Everything at a glance, for people and for Prometheus."},
]
DESCRIPTION = """Submit, watch, steer and collect. `/scraping` is for one address and its links, `/jobs` for what is run again and again.

**Errors** are problems as in RFC 9457: `code` is stable, `field`, `limit` and `remedy` say what to do. A busy database is a 503 with `Retry-After`.

**Lists** are arrays, the newest first, or in their order where that is a run's. `X-Next-Cursor` (and `Link`) lead on; what is added meanwhile neither moves nor repeats anything.

**Submits** take an `Idempotency-Key`: sent again with the same request it gets the same answer, and nothing happens twice.

**Streams** are server-sent events: numbered, resumed with `Last-Event-ID`, and ended by `end`.
"""
_THEIRS = ("HTTPValidationError", "ValidationError")


def describe(api: FastAPI) -> None:
    """Let `/openapi.json` say what is true of all routes together."""

    def openapi() -> dict[str, Any]:
        if api.openapi_schema is None:
            api.openapi_schema = _described(api)
        return api.openapi_schema

    api.openapi = openapi  # type: ignore[method-assign]


def _described(api: FastAPI) -> dict[str, Any]:
    found = get_openapi(
        title=api.title,
        version=api.version,
        summary=SUMMARY,
        description=DESCRIPTION,
        routes=api.routes,
        tags=TAGS,
    )
    schemas = found["components"]["schemas"]
    for name in _THEIRS:
        schemas.pop(name, None)
    schemas["ProblemView"] = ProblemView.model_json_schema()
    for path in found["paths"].values():
        for operation in path.values():
            _put_right(operation)
    return found


def _put_right(operation: dict[str, Any]) -> None:
    answers = operation["responses"]
    theirs = answers.get("422", {}).get("content", {}).get("application/json", {}).get("schema", {})
    if theirs.get("$ref", "").endswith("HTTPValidationError"):
        # A parameter that nobody knows is refused everywhere.
        del answers["422"]
    for status, answer in problems(422).items():
        answers.setdefault(str(status), answer)
