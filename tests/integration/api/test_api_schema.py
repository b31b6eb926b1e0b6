"""The API against its own description: whatever fits it is answered as it says, whatever doesn't is refused."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tarantella.api.app import make_api
from tarantella.bootstrap import make_bell, make_tools, open_app
from tarantella.fetchers.dns import Dns
from tarantella.fetchers.guard import Guard
from tarantella.services.app import App
from tarantella.settings import load
from tests.integration.api.conftest import working
from tests.integration.api.live import Live, serving
from tests.integration.crawling import guarded


def nobody(host: str) -> list[str]:
    """Generated names are asked of nobody."""
    raise OSError(host)


@pytest.fixture(scope="module")
def offline() -> Iterator[App]:
    with tempfile.TemporaryDirectory() as folder:
        app = open_app(load(data_dir=Path(folder)))
        yield guarded(app, Guard(dns=Dns(nobody)))
        app.close()


@pytest.fixture(scope="module")
def listening(offline: App) -> Iterator[Live]:
    with working(offline), serving(offline) as live:
        yield live


@pytest.fixture(scope="module")
def known(listening: Live) -> dict[str, str]:
    """The ids of things that there are: generated ones would never be found."""
    with httpx2.Client(base_url=listening.url) as http:
        job = http.post("/jobs", json={"target_url": "http://a.example/", "fields": ["title"]}).json()["id"]
        http.post(f"/jobs/{job}/runs")
        task = http.post("/scraping/async-scrape", json={"url": "http://a.example/"}).json()["task_id"]
        http.delete(f"/scraping/tasks/{task}")
        steps = [{"name": "a", "handler": "export"}, {"name": "b", "handler": "clean_up", "dependencies": [0]}]
        http.put("/workflows/templates/known", json={"steps": steps})
        workflow = http.post("/workflows", json={"template": "known", "job_id": job}).json()
    ids = {"workflow_id": workflow["id"], "step_id": workflow["steps"][0]["id"], "name": "known"}
    return {"job_id": job, "run_id": task, "task_id": task, "host": "a.example", **ids}


def description() -> dict[str, Any]:
    """What the API says of itself, for which it needs no database."""
    nothing: Any = None
    settings = load(data_dir=Path("nowhere"))
    bell = partial(make_bell, settings)
    return make_api(App(settings, nothing, make_tools, nothing, "here", bell, lambda: None)).openapi()


schema = schemathesis.openapi.from_dict(description())
# What is wrong may be so long that nobody reads on to where it is wrong.
schema.config.checks.negative_data_rejection.expected_statuses.append("413")


@pytest.fixture(autouse=True)
def _half_of_the_ids_exist(known: dict[str, str]) -> Iterator[None]:
    KNOWN.update(known)
    yield
    KNOWN.clear()


KNOWN: dict[str, str] = {}


@schema.hook
def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    for name, value in (path_parameters or {}).items():
        if name in KNOWN and len(str(value)) % 2:
            path_parameters = {**(path_parameters or {}), name: KNOWN[name]}
    return path_parameters


@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
@schema.parametrize()
@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_the_api_is_as_it_is_described(case: Any, listening: Live) -> None:
    # What an address or a cursor may be, a schema can't tell whole.
    case.call_and_validate(base_url=listening.url, timeout=30, excluded_checks=[positive_data_acceptance])
