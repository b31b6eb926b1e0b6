"""Secrets are told to nobody: a canary in each place where one can be given, searched for in all that comes out."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.command import Shell
from tests.fault.processes import SiteProcess
from tests.serving import ServerProcess

# Records are what was collected, addresses and all: blotted out there, an address would be another.
COLLECTED = ("/records", "/export?", "export", "/results?")
HEADER, PROXY, PARAMETER, USERINFO = (f"canary-{name}-7f3a9c" for name in ("header", "proxy", "parameter", "userinfo"))
# Where what a run needs is kept: a column that no view reads, in a file that only its owner can.
KEPT = {("jobs", "secrets"), ("runs", "secrets")}
# An address can't be fetched again without all of it. Wherever one is shown, its secrets are blotted out.
ADDRESSES = {("pages", "url"), ("pages", "final_url"), ("pages", "asked_url"), ("runs", "roots")}
ADDRESSES |= {("jobs", "target_url"), ("runs", "snapshot"), ("records", "data")}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    with SiteProcess(tmp_path_factory.mktemp("site")) as process:
        yield process


def everything(server: ServerProcess, job: str, run: str, task: str) -> Iterator[tuple[str, str]]:
    """All that the API has to say, by where it was asked."""
    paths = [
        "/jobs",
        f"/jobs/{job}",
        f"/jobs/{job}/runs",
        "/jobs/runs",
        "/scraping/tasks",
        "/scraping/status",
        "/sites",
        "/system",
        "/metrics",
        "/openapi.json",
    ]
    for each in (run, task):
        paths += [f"/jobs/runs/{each}{rest}" for rest in ("", "/progress", "/events", "/records", "/pages")]
        paths += [f"/jobs/runs/{each}/events/stream"]
        paths += [f"/jobs/runs/{each}/export?format={name}" for name in ("json", "jsonl", "csv", "db")]
    paths += [f"/scraping/tasks/{task}/results?include_errors=true", f"/scraping/tasks/{task}/status"]
    for path in paths:
        answer = server.client.get(path)
        assert answer.status_code == 200, (path, answer.text)
        yield path, answer.content.decode("utf-8", "replace") + repr(answer.headers)


def refused(server: ServerProcess, site: SiteProcess) -> Iterator[tuple[str, str]]:
    """Errors in answer to requests with secrets in them."""
    bad: dict[str, Any] = {"target_url": "https://example.com", "fields": []}
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/scraping/async-scrape", {"url": f"http://me:{USERINFO}@127.0.0.1/"}),
        ("POST", "/scraping/async-scrape", {"url": f"ftp://me:{USERINFO}@127.0.0.1/"}),
        ("POST", "/jobs", {**bad, "target_url": f"http://me:{USERINFO}@127.0.0.1/"}),
        ("POST", "/jobs", {**bad, "headers": {"Authorization": HEADER}}),
        ("POST", "/jobs", {**bad, "headers": {"Bad Name": HEADER}}),
        ("POST", "/jobs", {**bad, "proxy": f"gopher://me:{PROXY}@127.0.0.1:1"}),
        ("POST", "/jobs", {**bad, "fields": ["title"], "proxy": f"not a proxy {PROXY}"}),
    ]
    for method, path, body in requests:
        answer = server.client.request(method, path, json=body)
        assert 400 <= answer.status_code < 500, (path, answer.text)
        yield f"{path} {sorted(body)}", answer.text


def columns_with(database: Path, secret: str) -> set[tuple[str, str]]:
    """Where in the database something is."""
    found = set()
    with sqlite3.connect(database) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for column in [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]:
                like = f"SELECT count(*) FROM {table} WHERE CAST({column} AS TEXT) LIKE ?"
                if connection.execute(like, (f"%{secret}%",)).fetchone()[0]:
                    found.add((table, column))
    return found


def test_no_secret_leaves_the_server(site: SiteProcess, tmp_path: Path) -> None:
    data_dir, log = tmp_path / "data", tmp_path / "log"
    shell = Shell(tmp_path)
    made = shell.run("tokens", "create", "--scope", "admin", "--name", "canary", "--json").json
    token = made["token"]
    with ServerProcess(data_dir, "-vv", "--log-file", str(log)) as server:
        assert httpx2.get(f"{server.url}/system").status_code == 401
        server.client.headers["Authorization"] = f"Bearer {token}"
        fields = ["title"]
        target = site.url_for(f"/links?hrefs=/ok?token={PARAMETER}|/500?api_key={PARAMETER}&password={PARAMETER}")
        headers = {"Authorization": f"Bearer {HEADER}", "X-Custom": HEADER}
        body = {"target_url": target, "fields": fields, "headers": headers, "max_depth": 2, "max_attempts": 1}
        job = server.client.post("/jobs", json=body).json()["id"]
        run = server.client.post(f"/jobs/{job}/runs").json()["id"]
        task = server.submit(site.url_for(f"/500?token={PARAMETER}"), retry_attempts=1)
        proxied = {"target_url": site.url_for("/ok"), "fields": fields, "proxy": f"http://me:{PROXY}@127.0.0.1:9"}
        through = server.client.post("/jobs", json={**proxied, "max_attempts": 1})
        assert through.status_code == 201, through.text
        blocked = server.client.post(f"/jobs/{through.json()['id']}/runs").json()["id"]
        for each in (run, task, blocked):
            server.until_over(each)
        told = {**dict(everything(server, job, run, task)), **dict(refused(server, site))}
        told["the run through the proxy"] = server.client.get(f"/jobs/runs/{blocked}/events").text
        for arguments in (("runs", "list"), ("runs", "show", run), ("runs", "events", run), ("runs", "pages", run)):
            told[" ".join(arguments)] = shell.run(*arguments, "--json").out
        told["export"] = shell.run("export", run, "-o", "-").out
        told["config"] = shell.run("config", "show", "--json", TARANTELLA_TOKEN=token).out
        told["wrong"] = httpx2.get(f"{server.url}/system", headers={"Authorization": f"Bearer {token}x"}).text
        server.signal(signal.SIGTERM)
        assert server.wait() == 0
    told["log"] = log.read_text()
    told["stderr"] = server.errors
    assert "The worker has ended" in told["log"]
    for secret in (HEADER, PROXY, PARAMETER, USERINFO, token, token.removeprefix("tt_")):
        leaks = [place for place, text in told.items() if secret in text]
        if secret == PARAMETER:
            leaks = [place for place in leaks if not any(part in place for part in COLLECTED)]
        assert leaks == []

    database = data_dir / "tarantella.db"
    assert columns_with(database, HEADER) == KEPT
    assert columns_with(database, PROXY) == KEPT
    assert columns_with(database, PARAMETER) <= ADDRESSES
    assert columns_with(database, USERINFO) == set()
    assert columns_with(database, token) == set()
    assert data_dir.stat().st_mode & 0o077 == 0
