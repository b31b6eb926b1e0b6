"""What is typed at the command line, turned into what a run is told."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import pytest

from tarantella.cli import inputs
from tarantella.domain.errors import InvalidInput
from tarantella.domain.url import MAX_LENGTH


def addresses(data: bytes, *urls: str) -> list[str]:
    Path("urls.txt").write_bytes(data)
    return list(inputs.start_addresses(urls, "urls.txt", lambda: False))


def test_addresses_come_from_the_command_line_and_then_from_the_file() -> None:
    assert addresses(b"b.com\nc.com", "a.com") == ["a.com", "b.com", "c.com"]


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfa.com\nb.com\n",
        b"a.com\r\nb.com\r\n",
        b"\n\n# a comment\n  a.com  \n\t\n#x\nb.com",
        b"a.com\nb.com",
    ],
)
def test_blank_lines_comments_marks_and_line_ends_don_t_matter(data: bytes) -> None:
    assert addresses(data) == ["a.com", "b.com"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"ftp://example.com/", "not http or https"),
        (b"http://", "not a web address"),
        (b"\xff\xfe", "not UTF-8"),
        (b"http://a.com/" + b"x" * (MAX_LENGTH + 1), "longer than"),
        (b"http://a.com/\x00", "control character"),
        (b"https://me:hunter2@a.com/", "user name or password"),
    ],
)
def test_a_bad_line_is_named_by_its_number(line: bytes, why: str) -> None:
    with pytest.raises(InvalidInput, match=r"Line 3 of urls\.txt") as caught:
        addresses(b"a.com\n# fine\n" + line + b"\n")
    assert why in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_line_without_an_end_is_not_read_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    class Long(io.RawIOBase):
        given = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: object) -> int:
            if self.given > 1_000_000:
                return 0
            view = memoryview(buffer)  # type: ignore[arg-type]
            view[:] = b"x" * len(view)
            self.given += len(view)
            return len(view)

    long = Long()
    stdin = io.TextIOWrapper(io.BufferedReader(long, 4_096))
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.raises(InvalidInput, match="Line 1 of stdin"):
        list(inputs.start_addresses([], "-", lambda: False))
    assert long.given < 100_000


def test_ctrl_c_ends_the_reading_of_addresses() -> None:
    Path("urls.txt").write_text("a.com\n" * 1_000)
    read: list[str] = []
    with pytest.raises(inputs.Stopped):
        read.extend(inputs.start_addresses([], "urls.txt", lambda: len(read) == 3))
    assert read == ["a.com"] * 3


@pytest.mark.parametrize(("text", "depth"), [("1", 1), ("all", None), ("ALL", None), (" 7 ", 7)])
def test_a_depth_is_a_number_or_all(text: str, depth: int | None) -> None:
    assert inputs.depth_of(text) == depth


def test_minutes_and_seconds_are_added() -> None:
    assert inputs.deadline_of(None, None) is None
    assert inputs.deadline_of(1.5, 10) == 100
    assert inputs.deadline_of(None, 0.5) == 0.5
    for wrong in (0.0, -1.0, 1e9, float("nan")):
        with pytest.raises(InvalidInput, match=r"--timeout-minutes and --timeout-seconds .* 0\.001 and 31,622,400 s"):
            inputs.deadline_of(None, wrong)


def test_a_long_backoff_lifts_the_cap() -> None:
    assert inputs.backoff_of(1).delay(1, 0.0) == 1
    assert inputs.backoff_of(600).delay(1, 0.0) == 600


def test_headers_keep_colons_and_inner_blanks() -> None:
    secrets = inputs.secrets_of(["Authorization:  Bearer a:b c "], None, None)
    assert secrets.headers == {"Authorization": "Bearer a:b c"}


def test_a_proxy_keeps_its_password_for_the_run_and_the_error_does_not_show_it() -> None:
    assert inputs.secrets_of([], None, "http://me:hunter2@proxy:3128").proxy == "http://me:hunter2@proxy:3128"
    with pytest.raises(InvalidInput) as caught:
        inputs.secrets_of([], None, "gopher://me:hunter2@proxy")
    assert "hunter2" not in str(caught.value)


def test_a_ca_file_is_remembered_by_its_whole_path() -> None:
    made = (
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ed25519",
        "-nodes",
        "-keyout",
        "ca.key",
        "-out",
        "ca.pem",
        "-subj",
        "/CN=x",
    )
    subprocess.run(made, check=True, capture_output=True)
    assert inputs.ca_file_of(Path("ca.pem")) == str(Path.cwd() / "ca.pem")


@pytest.mark.parametrize("content", [b"", b"junk", b"\x7fELF\0"])
def test_a_ca_file_without_a_certificate_is_refused_before_the_crawl(content: bytes) -> None:
    Path("ca.pem").write_bytes(content)
    with pytest.raises(InvalidInput, match="holds no PEM certificate"):
        inputs.ca_file_of(Path("ca.pem"))
