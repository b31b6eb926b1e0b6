"""Nonsense that is sent to the API, and what it gets: never a 500, never a traceback."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from tarantella.api import server as api_server
from tarantella.services.app import App
from tests.integration.api.live import serving
from tests.integration.api.talking import Talker

SUBMIT = "/scraping/async-scrape"
JSON = {"Content-Type": "application/json"}
UNKNOWN = "01999999-9999-7999-8999-999999999999"


@pytest.mark.parametrize(
    "body",
    [
        b"{", b'{"url": ', b"nonsense", b"\xff\xfe", b"{'url': 1}", b'{"url": "a",}', b'{"max_depth": NaN}',
        b'{"max_depth": Infinity}', b"[" * 100_000, b'{"a":' * 50_000, b'{"url": "\\ud800"}', b"\x00",
    ],
)  # fmt: skip
def test_what_is_no_json_is_400(client: Talker, body: bytes) -> None:
    problem = client.refused("POST", SUBMIT, content=body, headers=JSON)
    assert (problem["status"], problem["code"]) == (400, "broken_json")


@pytest.mark.parametrize("value", ["1e400", "-1e400", "1" * 5_000, "1.5", '"2"', "true", "null", "[]", "{}"])
def test_numbers_that_are_none_are_422_or_400(client: Talker, value: str) -> None:
    body = f'{{"url": "https://a.example/", "max_depth": {value}}}'.encode()
    problem = client.refused("POST", SUBMIT, content=body, headers=JSON)
    assert problem["status"] in (400, 422)


@pytest.mark.parametrize("body", [b"[]", b"1", b'"text"', b"null", b"{}"])
def test_json_that_is_no_request_is_422(client: Talker, body: bytes) -> None:
    assert client.refused("POST", SUBMIT, content=body, headers=JSON)["status"] == 422
    assert client.refused("POST", "/jobs", content=body, headers=JSON)["status"] == 422


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json"])
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", SUBMIT), ("POST", "/jobs"), ("PATCH", f"/jobs/{UNKNOWN}"), ("POST", f"/jobs/{UNKNOWN}/runs")],
)
def test_a_body_that_is_not_called_json_is_415(client: Talker, kind: str, method: str, path: str) -> None:
    problem = client.refused(method, path, content=b'{"url": "https://a.example/"}', headers={"Content-Type": kind})
    assert (problem["status"], problem["code"]) == (415, "unsupported_media_type")


def test_a_write_without_a_body_needs_no_type(client: Talker) -> None:
    run = client.task("http://127.0.0.1:9/")
    assert client.http.post(f"/jobs/runs/{run}/cancel").status_code == 200


def test_a_body_that_is_too_large_is_413_whether_it_says_so_or_not(client: Talker) -> None:
    large = b'{"url": "' + b"x" * 2_000_000 + b'"}'
    assert client.refused("POST", SUBMIT, content=large, headers=JSON)["status"] == 413
    assert client.refused("POST", SUBMIT, content=iter([large[:1_000], large[1_000:]]), headers=JSON)["status"] == 413


def test_a_hundred_megabytes_are_refused_before_they_are_read(app: App) -> None:
    with serving(app) as live:
        plain = live.connect()
        plain.sendall(
            f"POST {SUBMIT} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Content-Length: {100 * 2**20}\r\n\r\n{{".encode()
        )
        assert plain.recv(4_096).startswith(b"HTTP/1.1 413")
        plain.close()


@pytest.mark.parametrize("head", ["GET /" + "x" * 200_000, "GET /jobs HTTP/1.1\r\nX-Long: " + "x" * 200_000])
def test_a_head_without_end_is_cut_off(app: App, head: str) -> None:
    with serving(app) as live:
        plain = live.connect()
        answer = b"?"
        try:
            plain.sendall(head.encode() + b" HTTP/1.1\r\n\r\n")
            answer = plain.recv(4_096)
        except (TimeoutError, ConnectionError):
            answer = b""
        assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
        plain.close()
        other = live.connect()
        other.sendall(b"GET /jobs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert other.recv(4_096).startswith(b"HTTP/1.1 200")
        other.close()


@pytest.mark.parametrize("limit", ["0", "-1", "201", "1000000000", "1e9", "x", ""])
@pytest.mark.parametrize("path", ["/jobs", "/jobs/runs", "/scraping/tasks"])
def test_a_limit_outside_of_its_bounds_is_422(client: Talker, path: str, limit: str) -> None:
    problem = client.refused("GET", f"{path}?limit={limit}")
    assert (problem["status"], problem["field"]) == (422, "limit")


@pytest.mark.parametrize("cursor", ["x", "%00", "....", "AAAAAAAAAAAAAAAAAAAAAAAA", "é", "W10", "a" * 400, "a" * 401])
@pytest.mark.parametrize("path", ["/jobs", "/jobs/runs", "/scraping/tasks"])
def test_a_forged_cursor_is_422(client: Talker, path: str, cursor: str) -> None:
    problem = client.refused("GET", f"{path}?cursor={cursor}")
    assert (problem["status"], problem["field"]) == (422, "cursor")


@pytest.mark.parametrize("run_id", [UNKNOWN, "x", "%00", "..%2f..", "' OR 1=1 --", "latest", "é" * 50, "a" * 5_000])
def test_unknown_ids_are_404_everywhere(client: Talker, run_id: str) -> None:
    paths = ["", "/events", "/events/stream", "/progress", "/progress/stream", "/records", "/pages", "/export"]
    for path in (f"/jobs/runs/{run_id}{rest}" for rest in paths):
        assert client.refused("GET", path)["status"] == 404
    for what in ("pause", "resume", "cancel", "retry-failed"):
        assert client.refused("POST", f"/jobs/runs/{run_id}/{what}")["status"] == 404
    for path in (
        f"/scraping/tasks/{run_id}/status",
        f"/scraping/tasks/{run_id}/results",
        f"/jobs/{run_id}",
        f"/jobs/{run_id}/runs",
    ):
        assert client.refused("GET", path)["status"] == 404
    assert client.refused("DELETE", f"/scraping/tasks/{run_id}")["status"] == 404
    assert client.refused("DELETE", f"/jobs/{run_id}")["status"] == 404
    assert client.refused("PATCH", f"/jobs/{run_id}", json={"name": "x"})["status"] == 404
    assert client.refused("POST", f"/jobs/{run_id}/runs")["status"] == 404


@pytest.mark.parametrize("path", ["/nothing", "/jobs/", "/scraping", "/%2Fjobs", "/jobs/runs/"])
def test_places_that_there_are_not_are_404(client: Talker, path: str) -> None:
    assert client.refused("GET", path)["code"] == "not_found"


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", "/jobs"), ("DELETE", "/jobs"), ("GET", SUBMIT), ("POST", "/scraping/tasks")]
)
def test_what_can_not_be_done_is_405_and_says_what_can(client: Talker, method: str, path: str) -> None:
    answer = client.http.request(method, path)
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert answer.headers["allow"]


@pytest.mark.parametrize(
    "path", ["/jobs?colour=red", "/jobs/runs?state=done", "/scraping/tasks?status=failed", "/scraping/status?x=1"]
)
def test_a_parameter_that_nobody_reads_is_refused_not_ignored(client: Talker, path: str) -> None:
    problem = client.refused("GET", path)
    assert problem["status"] == 422
    assert problem["field"] in path


@pytest.mark.parametrize(
    "fields",
    [
        "title", {"name": "x"}, [1], [None], [["title"]], [{}], [{"name": " "}], [{"css": "p"}], [{"name": 1, "css": "p"}],
        [{"name": "x", "css": ""}], [{"name": "x", "css": "p" * 3_000}], [{"name": "x", "css": "p", "attr": "a b"}],
        ["x" * 201], ["a", "b"] * 101, [{"name": "x", "css": "p", "colour": 1}],
    ],
)  # fmt: skip
def test_fields_that_are_none_are_refused_and_named(client: Talker, fields: Any) -> None:
    problem = client.refused("POST", "/jobs", json={"target_url": "http://127.0.0.1/", "fields": fields})
    assert problem["status"] == 422
    assert problem["field"].startswith("fields")


@pytest.mark.parametrize(
    "wrong",
    [
        {"target_url": "https://me:canary@a.example/?token=canary"},
        {"headers": {"Authorization": ["canary"]}},
        {"headers": {"Authorization": "canary\n"}},
        {"proxy": "http://me:canary@["},
        {"canary": 1, "cookie": "canary"},
    ],
)
def test_a_secret_in_a_request_that_is_refused_is_not_repeated(client: Talker, wrong: dict[str, Any]) -> None:
    answer = client.http.post("/jobs", json={"target_url": "http://127.0.0.1/", "fields": ["a"], **wrong})
    assert answer.status_code == 422
    assert "canary" not in answer.text.replace('"field":"canary"', "").replace("canary: Extra", "")


@pytest.mark.parametrize(
    "beginning",
    [
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX",
        b"POST /jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
        b"POST /jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1;",
    ],
)
def test_a_piece_of_a_head_that_never_ends_is_not_collected(app: App, beginning: bytes) -> None:
    with serving(app) as live:
        plain = live.connect()
        plain.sendall(beginning)
        sent = 0
        with suppress(ConnectionError, TimeoutError):
            while sent < 50 * 2**20:
                plain.sendall(b"a" * 65_536)
                sent += 65_536
        plain.close()
        assert sent < 20 * 2**20, "it takes whatever it is sent"


@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"GET /health HTTP/1.1\r\nHost: loc",
        b"POST /jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n\r\n",
    ],
)
def test_who_never_finishes_a_request_is_dropped(app: App, half: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_server, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(api_server, "BODY_SECONDS", 0.3)
    with serving(app) as live:
        plain = live.connect()
        plain.sendall(half)
        if half.endswith(b"\r\n\r\n\r\n"):
            answer = b""
            while not answer.endswith(b"}"):
                answer += plain.recv(4_096)
            assert answer.startswith(b"HTTP/1.1 200"), "that one was whole"
            plain.sendall(b"\r\n")
        try:
            rest = plain.recv(4_096)
        except ConnectionError:
            rest = b""
        assert rest == b""
        plain.close()
