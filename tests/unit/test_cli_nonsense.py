"""What makes no sense is refused in words, with exit code 2, before anything is fetched."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tarantella.cli.app import app

SCRAPE = [
    (),
    ("",),
    ("file:///etc/passwd",),
    ("https://user:hunter2@example.com/",),
    ("http://exa\nmple.com/",),
    ("example.com", "--depth", "deep"),
    ("example.com", "--depth", "0"),
    ("example.com", "--max-pages", "0"),
    ("example.com", "--max-pages", "many"),
    ("example.com", "--concurrency", "-1"),
    ("example.com", "--per-host", "0"),
    ("example.com", "--delay", "nan"),
    ("example.com", "--backoff", "inf"),
    ("example.com", "--timeout-seconds", "-5"),
    ("example.com", "--timeout-minutes", "0"),
    ("example.com", "--attempts", "0"),
    ("example.com", "--engines", "0"),
    ("example.com", "--scope", "planet"),
    ("example.com", "--text", "slow"),
    ("example.com", "--priority", "urgent"),
    ("example.com", "--fail-on", "always"),
    ("example.com", "--durability", "none"),
    ("example.com", "--header", "no colon here"),
    ("example.com", "--user-agent", "Me/1.0\r\nInjected: yes"),
    ("example.com", "--trap-limit", f"dates={'9' * 5_000}"),
    ("example.com", "--header", "Bad Name: hunter2"),
    ("example.com", "--header", "Name: hunter2\r\nInjected: yes"),
    ("example.com", "--proxy", "ftp://me:hunter2@proxy"),
    ("example.com", "--allow-network", "everything"),
    ("example.com", "--field", "price@"),
    ("example.com", "--field", "price=["),
    ("example.com", "--fields-file", "missing.yaml"),
    ("example.com", "--field", "=.price"),
    ("example.com", "--cookies-file", "missing.txt"),
    ("example.com", "--ca-file", "missing.pem"),
    ("example.com", "--output", "missing/folder/out.jsonl"),
    ("example.com", "--output", "."),
    ("example.com", "--output", "-", "--json"),
    ("example.com", "--output", "-", "--format", "db"),
    ("example.com", "--format", "xml"),
    ("example.com", "--log-file", "missing/log"),
    ("example.com", "--data-dir", ""),
    ("example.com", "--cache-dir", ""),
    ("example.com", "--database-url", ""),
    ("example.com", "--session", "nobody"),
    ("example.com", "--no-such-option"),
]
OTHERS = [
    ("runs", "list", "--status", "asleep"),
    ("runs", "list", "--limit", "0"),
    ("runs", "show"),
    ("runs", "pages", "latest", "--state", "odd"),
    ("runs", "explain", "latest"),
    ("runs", "show", "latest"),
    ("runs", "pause", "latest"),
    ("runs", "show", "%"),
    ("sites", "set", "example.com"),
    ("runs", "list", "--server", ""),
    ("preview",),
    ("preview", "file:///etc/passwd"),
    ("preview", "example.com", "--fields-file", "missing.yaml"),
    ("re-extract", "latest"),
    ("re-extract", "latest", "--field", "a=["),
    ("export", "latest"),
    ("export",),
    ("no-such-command",),
]


@pytest.mark.parametrize(
    "arguments",
    [("scrape", *rest) for rest in SCRAPE] + OTHERS,
    ids=lambda words: " ".join(words).encode("unicode_escape").decode(),
)
def test_nonsense_gives_2_and_a_message(arguments: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert "rror: " in done.stderr
    assert "Traceback" not in done.stderr
    assert "hunter2" not in done.stderr


def test_an_address_that_makes_no_sense_leaves_nothing_behind() -> None:
    assert CliRunner().invoke(app, ["scrape", "file:///etc/passwd"]).exit_code == 2
    assert not Path("data").exists()
