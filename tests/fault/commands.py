"""The commands that fault tests start: the driver of these tests, and the real command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.fault.processes import Child


def driver(
    data_dir: Path,
    what: str,
    *targets: str,
    spec: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    options: tuple[str, ...] = (),
) -> Child:
    """`tests.fault.crawler`, with its quick clockwork."""
    command = [
        sys.executable,
        "-m",
        "tests.fault.crawler",
        "--data-dir",
        str(data_dir),
        "--spec",
        json.dumps(spec or {}),
    ]
    return Child([*command, *options, what, *targets], data_dir.parent, env=env)


def tarantella(data_dir: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Child:
    """The real command line."""
    command = [sys.executable, "-m", "tarantella", *arguments, "--data-dir", str(data_dir)]
    return Child(command, data_dir.parent, env=env)
