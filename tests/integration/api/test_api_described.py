"""The description of the API: complete, with examples, and true."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.api.talking import Talker

# As the system has them that clients come from, and as users were promised.
ENDPOINTS = """
POST /scraping/async-scrape
GET /scraping/tasks/{task_id}/status
GET /scraping/tasks/{task_id}/results
DELETE /scraping/tasks/{task_id}
GET /scraping/tasks
GET /scraping/status
POST /jobs
GET /jobs
GET /jobs/{job_id}
PATCH /jobs/{job_id}
DELETE /jobs/{job_id}
POST /jobs/{job_id}/runs
GET /jobs/{job_id}/runs
GET /jobs/runs
GET /jobs/runs/{run_id}
DELETE /jobs/runs/{run_id}
GET /jobs/runs/{run_id}/events
GET /jobs/runs/{run_id}/events/stream
GET /jobs/runs/{run_id}/progress
GET /jobs/runs/{run_id}/progress/stream
GET /jobs/runs/{run_id}/records
POST /jobs/runs/{run_id}/pause
POST /jobs/runs/{run_id}/resume
POST /jobs/runs/{run_id}/cancel
POST /jobs/runs/{run_id}/retry-failed
GET /jobs/runs/{run_id}/pages
GET /jobs/runs/{run_id}/explain
GET /jobs/runs/{run_id}/export
GET /jobs/{job_id}/workflow
POST /workflows
GET /workflows
POST /workflows/check
GET /workflows/{workflow_id}
DELETE /workflows/{workflow_id}
GET /workflows/{workflow_id}/progress
GET /workflows/{workflow_id}/tasks
GET /workflows/{workflow_id}/events
GET /workflows/{workflow_id}/events/stream
POST /workflows/{workflow_id}/start
POST /workflows/{workflow_id}/pause
POST /workflows/{workflow_id}/resume
POST /workflows/{workflow_id}/cancel
POST /workflows/{workflow_id}/recover
GET /workflows/tasks/{step_id}
GET /workflows/templates
GET /workflows/templates/{name}
PUT /workflows/templates/{name}
DELETE /workflows/templates/{name}
GET /sites
GET /sites/{host}
PATCH /sites/{host}
POST /sites/{host}/reset-breaker
GET /recordings
POST /recordings
GET /recordings/{recording_id}
DELETE /recordings/{recording_id}
GET /health
GET /healthz
GET /readyz
GET /metrics
GET /system
"""


def operations(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, found in described["paths"].items():
        for method, operation in found.items():
            yield f"{method.upper()} {path}", operation


def test_every_endpoint_that_was_promised_is_described(client: Talker) -> None:
    assert {name for name, _ in operations(client.get("/openapi.json"))} >= set(ENDPOINTS.split("\n")[1:-1])


def test_every_operation_parameter_and_answer_is_described(client: Talker) -> None:
    described = client.get("/openapi.json")
    tags = {tag["name"] for tag in described["tags"]}
    for name, operation in operations(described):
        assert operation["summary"], name
        assert operation["description"], name
        assert set(operation["tags"]) <= tags, name
        for parameter in operation.get("parameters", ()):
            assert parameter.get("description"), (name, parameter["name"])
        for status, answer in operation["responses"].items():
            assert answer["description"], (name, status)
            if status >= "400":
                assert list(answer["content"]) == ["application/problem+json"], (name, status)
        for status, answer in operation["responses"].items():
            assert status == "204" or answer["content"], (name, status)


def test_every_body_has_an_example_that_is_accepted(client: Talker) -> None:
    described = client.get("/openapi.json")
    schemas = described["components"]["schemas"]
    for name, operation in operations(described):
        if "requestBody" not in operation:
            continue
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        reference = schema.get("$ref") or next(each["$ref"] for each in schema["anyOf"] if "$ref" in each)
        view = schemas[reference.rpartition("/")[2]]
        assert view["description"], name
        assert view["examples"], name
        method, path = name.split()
        target = re.sub(r"{\w+}", "a.example" if "sites" in path else "x", path)
        for example in view["examples"]:
            answer = client.http.request(method, target, json=example)
            # A preview of an example is understood; there is only nobody at that address.
            assert answer.status_code in (200, 201, 404) or answer.json()["code"] == "preview_failed", (
                name,
                answer.text,
            )


def test_every_schema_is_described_and_every_reference_leads_somewhere(client: Talker) -> None:
    described = client.http.get("/openapi.json").text
    schemas = client.get("/openapi.json")["components"]["schemas"]
    for name in set(re.findall(r'"#/components/schemas/(\w+)"', described)):
        assert name in schemas
    assert not {"HTTPValidationError", "ValidationError"} & set(schemas)
    for name, schema in schemas.items():
        assert schema.get("description") or "enum" in schema, name


@pytest.mark.parametrize(
    "path",
    [
        "/docs",
        "/docs/assets/swagger-ui-bundle.js",
        "/docs/assets/swagger-ui.css",
        "/docs/assets/start.js",
        "/docs/assets/favicon-32x32.png",
    ],
)
def test_the_documentation_needs_nobody_else(client: Talker, path: str) -> None:
    answer = client.http.get(path)
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    if path == "/docs":
        assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", answer.text)
        for asset in re.findall(r'(?:src|href)="([^"]+)"', answer.text):
            assert client.http.get(asset).status_code == 200


def test_the_assets_ask_nobody_else_for_styles_or_fonts(client: Talker) -> None:
    style = client.http.get("/docs/assets/swagger-ui.css").text
    assert not re.search(r"(?:url\(|@import)\s*[\"']?https?:", style)
