"""A setting that can't be used is refused by its name and its line, and nothing starts: row 26 of docs/hostile-input.md."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tarantella.cli.app import app
from tarantella.domain.errors import InvalidInput
from tarantella.settings import Settings, load

TOML, DOTENV = Path("tarantella.toml"), Path(".env")


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TARANTELLA_BROWSER")


def refusal() -> str:
    with pytest.raises(InvalidInput) as caught:
        load()
    assert caught.value.remedy
    return str(caught.value).lower()


def names(told: str, *words: str, line: int) -> bool:
    """Whether a message has all of these in it, and that line."""
    return all(word in told for word in words) and re.search(rf"\bline {line}\b", told) is not None


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("concurrency = 5\n\nno_such_setting = 1\n", "no_such_setting", 3),
        ('# a comment\n"no_such_setting" = 1\n', "no_such_setting", 2),
        ("no_such.setting = 1\n", "no_such", 1),
        ("\n[crawler]\nconcurrency = 5\n", "crawler", 2),
        ("concurrency = 5\nmax_pages = -1\n", "max_pages", 2),
        ("attempts = 0\n", "attempts", 1),
        ("engines = 65\n", "engines", 1),
        ("\ndrain_seconds = nan\n", "drain_seconds", 2),
        ("drain_seconds = inf\n", "drain_seconds", 1),
        ('http_timeout_seconds = "20 parsecs"\n', "http_timeout_seconds", 1),
        ('max_pages = "10k"\n', "max_pages", 1),
        ("max_pages = 1.5\n", "max_pages", 1),
        ("concurrency = [1]\n", "concurrency", 1),
        ('durability = "some"\n', "durability", 1),
        ('\nallow_networks = ["10.0.0.0/8", "everything"]\n', "allow_networks", 2),
        ("allow_networks = 10\n", "allow_networks", 1),
        ("concurrency = 5\nmax_pages = = 3\n", "", 2),
        ("concurrency = 5\nconcurrency = 6\n", "", 2),
        ("max_pages = [\n", "", 1),
    ],
)
def test_a_line_of_tarantella_toml_that_makes_no_sense_is_named(text: str, name: str, line: int) -> None:
    TOML.write_text(text)
    assert names(refusal(), name, "tarantella.toml", line=line)


def test_toml_that_is_nested_without_end_is_refused() -> None:
    TOML.write_text("x = " + "[" * 5_000)
    assert "tarantella.toml" in refusal()


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("\nTARANTELLA_NO_SUCH_SETTING=1\n", "tarantella_no_such_setting", 2),
        ("A=1\nTARANTELLA_CONCURRENCY=many\n", "concurrency", 2),
        ("export tarantella_concurrency = -1\n", "concurrency", 1),
        ("APP_HTTP_TIMEOUT_SECONDS=-4\n", "http_timeout_seconds", 1),
        ("TARANTELLA_HTTP_TIMEOUT_SECONDS=20s\n", "http_timeout_seconds", 1),
        ('A=1\nTARANTELLA_USER_AGENT="never closed\nB=2\n', "", 2),
        ("TARANTELLA_ALLOW_NETWORKS=nowhere\n", "allow_networks", 1),
    ],
)
def test_a_line_of_dotenv_that_makes_no_sense_is_named(text: str, name: str, line: int) -> None:
    DOTENV.write_text(text)
    assert names(refusal(), name, ".env", line=line)


@pytest.mark.parametrize(
    ("variable", "value", "name"),
    [
        ("TARANTELLA_CONCURRENCY", "-3", "concurrency"),
        ("TARANTELLA_DRAIN_SECONDS", "5 minutes", "drain_seconds"),
        ("APP_DEFAULT_MAX_ATTEMPTS", "0", "attempts"),
        ("TARANTELLA_ALLOW_NETWORKS", '["10.0.0.0/8", "x"]', "allow_networks"),
    ],
)
def test_a_variable_that_makes_no_sense_is_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, name: str
) -> None:
    monkeypatch.setenv(variable, value)
    told = refusal()
    assert name in told
    assert "environment" in told


def test_the_place_that_counts_is_the_one_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    TOML.write_text("concurrency = 0\n")
    DOTENV.write_text("TARANTELLA_CONCURRENCY=0\n")
    assert names(refusal(), ".env", line=1)
    monkeypatch.setenv("TARANTELLA_CONCURRENCY", "0")
    assert "environment" in refusal()
    with pytest.raises(InvalidInput, match="concurrency"):
        load(concurrency=0)


@pytest.mark.parametrize("path", [TOML, DOTENV])
@pytest.mark.parametrize("kind", ["a folder", "a link to nowhere", "no text", "zeroes"])
def test_a_file_that_can_not_be_read_is_named(path: Path, kind: str) -> None:
    if kind == "a folder":
        path.mkdir()
    elif kind == "a link to nowhere":
        path.symlink_to("nowhere")
    else:
        path.write_bytes(b"# fine\n\xff\xfe" if kind == "no text" else b"# fine\nTARANTELLA_\0\0 = \0\n")
    assert path.name in refusal()


def test_a_byte_order_mark_in_dotenv_does_not_hide_the_first_line() -> None:
    DOTENV.write_bytes(b"\xef\xbb\xbfTARANTELLA_CONCURRENCY=7\n")
    assert load().concurrency == 7


def test_what_other_programs_keep_in_dotenv_and_the_environment_is_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    # A command that was tested before may have left a log that writes to where nobody listens any more.
    monkeypatch.setattr(logging.getLogger("dotenv.main"), "disabled", True)
    DOTENV.write_text("DATABASE_URL=postgres://u:p@h/\nAPP_NAME=shop\nthis is no assignment\nCONCURRENCY=99\n")
    for name in ("ATTEMPTS", "CONCURRENCY", "HTTP_TIMEOUT_SECONDS", "APP_SECRET", "TARANTELLA_IMAGE"):
        monkeypatch.setenv(name, "77")
    assert load() == Settings()
    assert (load().attempts, load().concurrency) == (3, 10)


def test_a_variable_that_is_set_to_nothing_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TARANTELLA_DATA_DIR", "")
    monkeypatch.setenv("TARANTELLA_CONCURRENCY", "")
    assert load() == Settings()


@pytest.mark.parametrize("text", ["10.0.0.0/8,::1/128", "10.0.0.0/8, ::1/128", '["10.0.0.0/8", "::1/128"]'])
def test_networks_in_the_environment_are_written_as_people_do(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("TARANTELLA_ALLOW_NETWORKS", text)
    assert list(load().allow_networks) == ["10.0.0.0/8", "::1/128"]


@pytest.mark.parametrize("command", [("runs", "list"), ("scrape", "example.com"), ("doctor",), ("config", "show")])
def test_no_command_starts_with_settings_that_make_no_sense(command: tuple[str, ...]) -> None:
    TOML.write_text("\nmax_pages = -1\n")
    done = CliRunner().invoke(app, list(command))
    assert done.exit_code == 2
    [line] = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert names(line, "max_pages", "tarantella.toml", line=2)
    assert not Path("data").exists()


def test_without_a_home_everything_works(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "USER", "LOGNAME"):
        monkeypatch.delenv(name, raising=False)
    assert "HOME" not in os.environ
    assert CliRunner().invoke(app, ["runs", "list"]).exit_code == 0


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("TARANTELLA_DATABSE_URL", "TARANTELLA_DATABASE_URL"),
        ("tarantella_datadir", "TARANTELLA_DATA_DIR"),
        ("TARANTELLA_PER_HOSTS", "TARANTELLA_PER_HOST"),
    ],
)
def test_a_misspelt_variable_is_refused_with_what_was_meant(
    monkeypatch: pytest.MonkeyPatch, variable: str, meant: str
) -> None:
    monkeypatch.setenv(variable, "1")
    with pytest.raises(InvalidInput, match=f"no setting '{variable.upper()}'.*environment") as refused:
        load()
    assert meant in (refused.value.remedy or "")


def test_a_misspelt_variable_that_is_empty_sets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TARANTELLA_DATABSE_URL", "")
    load()


@pytest.mark.parametrize("variable", ["TARANTELLA_SERVICE_HOST", "TARANTELLA_PORT_8000_TCP", "TARANTELLA_IMAGE"])
def test_a_variable_of_somebody_else_is_left_alone(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "tcp://10.0.0.1:8000")
    load()
