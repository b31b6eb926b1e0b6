"""`tarantella serve`: a server with engines of its own, and the site that they visit as the witness."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import Done, Shell
from tests.fault.processes import SiteProcess
from tests.serving import ServerProcess

OTHER = "127.0.0.2"  # the same site under another name, for those who need a host of their own
BROKEN = "127.0.0.3"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    with SiteProcess(tmp_path_factory.mktemp("site")) as process:
        yield process


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("server") / "data", engines=2) as process:
        yield process


@pytest.fixture(autouse=True)
def _unseen(site: SiteProcess) -> None:
    site.reset()


def policy(server: ServerProcess, host: str = OTHER, **changes: Any) -> dict[str, Any]:
    answer = server.client.patch(f"/sites/{host}", json=changes)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def tarantella(folder: Path, *arguments: str) -> Done:
    return Shell(folder).run(*arguments)


# -- starting and stopping


def test_it_tells_where_it_listens_and_writes_it_down(server: ServerProcess) -> None:
    written = json.loads((server.data_dir / "server.json").read_bytes())
    assert (written["url"], written["pid"]) == (server.url, server.pid)
    assert written["endpoints"] == [["127.0.0.1", server.port]]


def test_a_second_server_on_the_same_data_is_refused_and_told_of_the_first(server: ServerProcess) -> None:
    done = tarantella(server.data_dir.parent, "serve", "--port", "0", "--data-dir", str(server.data_dir))
    assert done.code == 2
    assert f"Another server is already there for {server.data_dir} at {server.url} (process {server.pid})" in done.err


def test_a_port_that_is_in_use_is_a_clear_error(server: ServerProcess, tmp_path: Path) -> None:
    done = tarantella(tmp_path, "serve", "--port", str(server.port))
    assert done.code == 2
    assert f"Port {server.port} at 127.0.0.1 is in use by another program. Choose another with --port." in done.err


def test_a_data_directory_that_cant_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    done = tarantella(tmp_path, "serve", "--port", "0", "--data-dir", str(tmp_path / "file" / "data"))
    assert done.code == 1
    assert "can't be written" in done.err
    assert "--data-dir" in done.err


def test_an_address_that_is_not_ours_is_a_clear_error(tmp_path: Path) -> None:
    done = tarantella(tmp_path, "serve", "--port", "0", "--host", "nowhere.invalid")
    assert done.code == 2
    assert "'nowhere.invalid' is not an address of this machine." in done.err


def test_a_server_that_others_can_reach_is_refused_without_a_token_and_wants_one_with(tmp_path: Path) -> None:
    refused = tarantella(tmp_path, "serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.code == 2
    assert "Everybody who reaches 0.0.0.0 could use this server." in refused.err
    assert "tarantella tokens create" in refused.err
    token = tarantella(tmp_path, "tokens", "create", "--scope", "read").out.strip()
    with ServerProcess(tmp_path / "data", "--host", "0.0.0.0") as server:
        assert server.client.get("/healthz").status_code == 200
        assert server.client.get("/system").status_code == 401
        assert server.client.get("/system", headers={"Authorization": f"Bearer {token}"}).status_code == 200
        here = Shell(tmp_path)
        shut_out = here.run("system", "show")
        assert (shut_out.code, "Set TARANTELLA_TOKEN to a token" in shut_out.err) == (2, True)
        assert here.run("system", "show", TARANTELLA_TOKEN=token).code == 0
        [listed] = here.run("tokens", "list", "--json").json
        assert here.run("tokens", "revoke", listed["id"]).code == 0
        server.until(
            lambda: server.client.get("/system", headers={"Authorization": f"Bearer {token}"}).status_code,
            lambda status: status == 401,
        )


# -- health means progress


def test_health_answers_in_milliseconds_while_slow_pages_are_fetched(site: SiteProcess, server: ServerProcess) -> None:
    task = server.submit(site.url_for("/slow?s=2"))
    server.until(lambda: site.log()["hits"], lambda hits: any(hit["path"] == "/slow" for hit in hits))
    took = []
    for _ in range(50):
        began = time.perf_counter()
        assert server.client.get("/health").status_code == 200
        took.append(time.perf_counter() - began)
    assert sorted(took)[25] < 0.05
    assert server.status(task)["status"] == "running"
    assert server.until_over(task)["status"] == "completed"


def test_a_server_with_work_in_its_queue_is_ready(site: SiteProcess, server: ServerProcess) -> None:
    tasks = [server.submit(site.url_for(f"/slow?s=1.5&n={number}")) for number in range(7)]
    seen = server.until(lambda: server.get("/system"), lambda told: told["capacity"]["running"] == 5)
    assert (seen["capacity"]["queued"], seen["capacity"]["at_capacity"]) == (2, True)
    assert [run["reason"] for run in seen["waiting"]] == ["waits for one of the 5 runs before it to end"] * 2
    assert server.get("/readyz")["status"] == "ready"
    for task in tasks:
        assert server.until_over(task)["status"] == "completed"


def test_what_engines_did_reaches_the_metrics_of_the_api(site: SiteProcess, server: ServerProcess) -> None:
    def counted() -> float:
        lines = server.client.get("/metrics").text.splitlines()
        name = 'tarantella_pages_total{state="done",reason=""} '
        return sum(float(line.removeprefix(name)) for line in lines if line.startswith(name))

    server.until_over(server.submit(site.url_for("/ok")))
    # Engines tell what they did with their next beat.
    before = server.until(counted, lambda pages: pages > 0, 20)
    server.until_over(server.submit(site.url_for("/list?n=20"), max_depth=2))
    server.until(counted, lambda pages: pages >= before + 21, 20)


# -- what is kept


def test_a_task_is_forgotten_when_its_time_is_up(site: SiteProcess, tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data", env={"TARANTELLA_CLEANUP_INTERVAL": "1"}) as server:
        task = server.submit(site.url_for("/ok"))
        server.until(
            lambda: server.client.get(f"/scraping/tasks/{task}/status"), lambda answer: answer.status_code == 404, 30
        )
        assert server.get("/scraping/tasks") == []


def test_the_doctor_says_when_runs_wait_and_no_engine_lives(site: SiteProcess, tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data") as server:
        server.submit(site.url_for("/slow?s=60"))
        server.kill()
    checks = {check["name"]: check for check in tarantella(tmp_path, "doctor", "--json").json}
    assert checks["queue"]["health"] == "fail"
    assert "no worker lives that would work on them" in checks["queue"]["finding"]
    assert checks["queue"]["remedy"].startswith("Start one: tarantella serve")


# -- what is never fetched


def test_the_control_planes_own_port_is_never_fetched(server: ServerProcess) -> None:
    task = server.submit(f"{server.url}/health")
    ended = server.until_over(task)
    assert (ended["status"], ended["failed_items"]) == ("failed", 1)
    told = server.get(f"/scraping/tasks/{task}/results", include_errors=True)
    assert "control" in json.dumps(told["errors"])


# -- sites: the policy changes the traffic


def test_a_sites_limit_holds_whatever_the_runs_ask_for(site: SiteProcess, server: ServerProcess) -> None:
    policy(server, per_host=2, delay=None, paused=False)
    url = site.url_for("/tree?delay_ms=50&depth=2&fan=6", OTHER)
    task = server.submit(url, max_depth=3, max_concurrent_articles=25)
    assert server.until_over(task)["completed_items"] == 43
    assert site.log()["peak_by_host"][OTHER] == 2


def test_a_sites_delay_keeps_requests_apart(site: SiteProcess, server: ServerProcess) -> None:
    policy(server, per_host=None, max_rate=5.0)
    task = server.submit(site.url_for("/list?n=6", OTHER), max_depth=2)
    server.until_over(task)
    starts = sorted(hit["start"] for hit in site.log()["hits"] if hit["path"] != "/robots.txt")
    assert len(starts) == 7
    # One that arrives late is closer to the next: a busy machine may shorten a gap, but hardly the way from first to last.
    assert min(later - earlier for earlier, later in pairwise(starts)) >= 0.1
    assert starts[-1] - starts[0] >= 6 * 0.2 - 0.1
    policy(server, max_rate=None)


def test_a_paused_site_is_left_alone_and_goes_on_when_it_may(site: SiteProcess, server: ServerProcess) -> None:
    policy(server, paused=False)
    task = server.submit(site.url_for("/tree?delay_ms=100&depth=3&fan=4", OTHER), max_depth=4)
    server.until(lambda: server.status(task), lambda seen: seen["completed_items"] >= 3)
    assert policy(server, paused=True)["health"] == "paused"
    assert site.quiet(1.0).total() < 85
    site.reset()
    other = server.submit(site.url_for("/ok"))
    assert server.until_over(other)["status"] == "completed"
    assert server.status(task)["status"] != "completed"
    policy(server, paused=False)
    assert server.until_over(task)["completed_items"] == 85


def test_a_breaker_that_is_open_can_be_reset_and_the_site_is_asked_again(
    site: SiteProcess, server: ServerProcess
) -> None:
    addresses = [site.url_for(f"/500?n={number}", BROKEN) for number in range(6)]
    tasks = [server.submit(url, retry_attempts=1) for url in addresses]
    seen = server.until(
        lambda: server.client.get(f"/sites/{BROKEN}").json(),
        lambda told: told.get("breaker", {}).get("state") == "open",
    )
    assert seen["health"] == "blocked"
    assert seen["breaker"]["failures"] == 5
    assert [each["host"] for each in server.get("/sites", breaker_open=True)] == [BROKEN]
    hits = site.hits().total()
    assert hits == 5
    answer = server.client.post(f"/sites/{BROKEN}/reset-breaker").json()
    assert answer["breaker"]["state"] == "closed"
    for task in tasks:
        assert server.until_over(task)["status"] == "failed"
    assert site.hits().total() == 6
    errors = server.until(lambda: server.get(f"/sites/{BROKEN}")["errors"], lambda told: told["requests"] == 6, 20)
    assert errors["by_code"] == {"bad_response": 6}


def test_the_table_of_sites_is_there_on_the_command_line(server: ServerProcess) -> None:
    policy(server, paused=False)
    done = tarantella(server.data_dir.parent, "sites", "list", "--json", "--data-dir", str(server.data_dir))
    assert done.code == 0
    assert OTHER in [each["host"] for each in done.json]
