"""A server that is none, or none of ours: said in words, with nothing lost and nothing taken for done."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tarantella.cli.app import app

ID = "0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10"
COMMANDS = [
    ("export", ID, "-o", "keep.jsonl"),
    ("export", ID, "-o", "-"),
    ("export", "latest", "-o", "keep.jsonl"),
    ("jobs", "delete", ID, "-y"),
    ("jobs", "list"),
    ("runs", "pause", ID, "--json"),
    ("runs", "delete", ID, "-y"),
    ("runs", "show", ID),
    ("runs", "events", ID),
    ("runs", "events", ID, "--follow"),
    ("runs", "artifacts", ID, "--save", "kept"),
    ("sites", "set", "a.example", "--per-host", "1"),
    ("tasks", "submit", "https://a.example/"),
    ("workers", "list"),
    ("system", "ready"),
    ("system", "metrics", "--json"),
]


@dataclass
class Stranger:
    """Gives the same answer to whatever it is asked."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)  # where, and with which token
    url: str = ""

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(app, [*arguments, "--server", self.url])


@contextmanager
def stranger(status: int = 200, body: bytes = b"", **headers: str) -> Iterator[Stranger]:
    """Without a Content-Length among the headers, the right one is sent."""
    told = {name.replace("_", "-").title(): value for name, value in headers.items()}
    served = Stranger(status, body, {"Content-Length": str(len(body)), "Content-Type": "application/json"} | told)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            served.asked.append((self.path, self.headers.get("Authorization")))
            self.send_response(served.status)
            for name, value in served.headers.items():
                if value:
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(served.body)
            self.close_connection = True

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - as it has to be

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield served
        finally:
            server.shutdown()


@pytest.fixture
def kept() -> Path:
    path = Path("keep.jsonl")
    path.write_text("good\n")
    return path


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_who_is_sent_elsewhere_is_told_where_and_nothing_is_taken_for_done(
    command: tuple[str, ...], kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TARANTELLA_TOKEN", "tt_secret")
    with stranger(200, b"{}") as elsewhere, stranger(307) as server:
        server.headers["Location"] = f"{elsewhere.url}/there"
        done = server.run(*command)
        assert (done.exit_code, done.stdout) == (1, "")
        assert f"sends us on to {elsewhere.url}/there" in done.stderr
        assert "--server" in done.stderr
        assert server.asked
        assert elsewhere.asked == []
    assert kept.read_text() == "good\n"


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("https://b.example/readyz", "Name https://b.example with --server."),
        ("//b.example/base/readyz", "Name http://b.example/base with --server."),
        ("https://b.example/login?to=readyz", "Is it a Tarantella?"),
        ("/readyz", "Is it a Tarantella?"),
        ("https://[b/readyz", "Is it a Tarantella?"),
        ("", "Is it a Tarantella?"),
    ],
)
def test_an_address_that_would_do_is_named(location: str, told: str) -> None:
    with stranger(301, location=location) as server:
        assert told in server.run("system", "ready").stderr
        server.url = server.url.removeprefix("http://")
        assert told in server.run("system", "ready").stderr


NDJSON = "application/x-ndjson"


@pytest.mark.parametrize("output", ["keep.jsonl", "-"])
@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b'{"a": 1}\n', {"content_length": "900"}),
        (b"", {"content_length": "900"}),
        (b'9\r\n{"a": 1}\n\r\n', {"content_length": "", "transfer_encoding": "chunked"}),
        (b'900\r\n{"a": 1}\n', {"content_length": "", "transfer_encoding": "chunked"}),
    ],
    ids=["short", "nothing", "between chunks", "within a chunk"],
)
def test_an_export_that_is_cut_off_is_no_export(output: str, body: bytes, headers: dict[str, str], kept: Path) -> None:
    with stranger(200, body, content_type=NDJSON, **headers) as server:
        done = server.run("export", ID, "-o", output)
    assert done.exit_code == 1
    assert "ended before the answer did" in done.stderr
    assert kept.read_text() == "good\n"
    assert list(Path().iterdir()) == [kept]


@pytest.mark.parametrize("headers", [{}, {"content_length": ""}], ids=["of a known length", "until the end"])
def test_a_whole_export_takes_the_place_of_the_file(headers: dict[str, str], kept: Path) -> None:
    with stranger(200, b'{"a": 1}\n', content_type=NDJSON, **headers) as server:
        assert server.run("export", ID, "-o", str(kept)).exit_code == 0
    assert kept.read_text() == '{"a": 1}\n'


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>Welcome to the router", "text/html"),
        (b'[1, 2, null, "x"]', "application/json"),
        (b"null", "application/json"),
        (b"", "application/json"),
        (b"\xff\xfe\x00", "application/octet-stream"),
        (b"[" * 100_000, "application/json"),
    ],
    ids=["a page", "a list", "null", "nothing", "garbage", "endless"],
)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_who_is_no_tarantella_is_asked_whether_it_is_one(
    command: tuple[str, ...], body: bytes, kind: str, kept: Path
) -> None:
    with stranger(200, body, content_type=kind) as server:
        done = server.run(*command)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.endswith("Is it a Tarantella?\n")
    assert kept.read_text() == "good\n"


def test_an_answer_that_lacks_what_all_of_ours_have_is_not_ours() -> None:
    for body, command in ((b"{}", ("runs", "delete", ID, "-y")), (b"[{}]", ("runs", "show", "latest"))):
        with stranger(200, body) as server:
            assert "Is it a Tarantella?" in server.run(*command).stderr


@pytest.mark.parametrize(
    ("command", "body", "kind"),
    [
        (("runs", "events", ID, "--follow"), b"data: {\n\n", "text/event-stream"),
        (("system", "metrics"), b"\xff\xfe", "text/plain"),
        (("system", "metrics", "--json"), b"Welcome to the router", "text/plain"),
    ],
    ids=["events", "bytes", "words"],
)
def test_what_only_looks_like_an_answer_is_not_ours(command: tuple[str, ...], body: bytes, kind: str) -> None:
    with stranger(200, body, content_type=kind) as server:
        assert "Is it a Tarantella?" in server.run(*command).stderr


def test_no_server_decides_where_an_artifact_is_written() -> None:
    for name in ("../out", "/tmp/out", "a/b"):
        with stranger(200, b'[{"id": "%s", "kind": "html"}]' % name.encode()) as server:
            done = server.run("runs", "artifacts", ID, "--save", "kept")
            assert "Is it a Tarantella?" in done.stderr
            assert len(server.asked) == 1
    assert list(Path("kept").iterdir()) == []


@pytest.mark.parametrize(
    "command", [("runs", "show", ID), ("runs", "pause", ID), ("runs", "events", ID, "--follow")], ids=" ".join
)
def test_nothing_that_a_server_says_moves_the_cursor(command: tuple[str, ...]) -> None:
    said = r'"\u001b[31mred\u001b]0;x\u0007\r\n\u009b2J"'
    problem = f'{{"detail": {said}, "remedy": {said}, "code": "invalid_input"}}'
    run = f'{{"id": {said}, "status": {said}, {said}: 1, "counts": {{{said}: [{{{said}: 1}}]}}}}'
    for status, body in ((422, problem), (200, run), (307, "")):
        with stranger(status, body.encode(), location="https://b.example/\x1b[31m") as server:
            done = server.run(*command)
        shown = done.stdout + done.stderr
        assert [letter for letter in shown if not letter.isprintable() and letter != "\n"] == []
