"""Scrapers: somebody's scripts, what they accept, and how a gap becomes a command line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tarantella.domain.backoff import Backoff
from tarantella.domain.gap import Gap
from tarantella.domain.struct import Frozen

USUAL_SECONDS = 300.0
# What a scraper is called becomes the name of a file: nothing in it may lead anywhere.
_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?")
_FLAG = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
LONGEST_ARGUMENT = 120_000  # bytes; Linux takes 131,072


class RateLimit(Frozen):
    """What all executions of a scraper together may ask of its sites."""

    requests_per_second: float
    burst_size: int = 1


class Retry(Frozen):
    """How often an execution is tried, and how long is waited in between: twice as long each time."""

    max_attempts: int = 1
    base_delay: float = 1.0
    max_delay: float = 300.0

    def delay(self, failures: int) -> float:
        return Backoff(self.base_delay, 2.0, self.max_delay, 0.0).delay(failures, 0.0)


class Scraper(Frozen):
    """What a file of scrapers says of one."""

    name: str
    script: str | None = None
    base_url: str | None = None
    rate_limit: RateLimit | None = None
    retry: Retry = Retry()
    timeout: float | None = None
    max_concurrent: int | None = None
    accepted_parameters: Sequence[str] | None = None  # None: whatever a gap says

    def seconds_for(self, gap: Gap) -> float:
        """What an execution may take: what the gap is expected to take, or the scraper's own limit, or five minutes."""
        if gap.estimated_minutes is not None:
            return gap.estimated_minutes * 60
        return self.timeout if self.timeout is not None else USUAL_SECONDS


class NoCommand(ValueError):
    """A gap that can't be told to a script."""


def is_name(text: str) -> bool:
    """Whether a script can be looked for under this name."""
    return _NAME.fullmatch(text) is not None


def arguments(scraper: Scraper, gap: Gap) -> list[str]:
    """What a script is told of a gap: a flag for each parameter that it accepts, in the order in which it names them.

    A value that looks like an option is bound to its flag, so that it can't become one.
    """
    accepted = scraper.accepted_parameters if scraper.accepted_parameters is not None else list(gap.params)
    told: list[str] = []
    for name in accepted:
        said = gap.params.get(name)
        value = _text(said)
        if value is None:
            continue
        if _FLAG.fullmatch(name) is None:
            raise NoCommand(f"The parameter {name[:50]!r} can't be a flag of a script.")
        flag = f"--{name.replace('_', '-')}"
        if "\0" in value or len(value.encode("utf-8", "surrogatepass")) > LONGEST_ARGUMENT:
            raise NoCommand(f"{name} is too much for a command line; the script can read it from its standard input.")
        if said is True:
            told.append(flag)
        elif value.startswith("-"):
            told.append(f"{flag}={value}")
        else:
            told += [flag, value]
    return told


def _text(value: Any) -> str | None:
    """A value as scripts read it: lists with commas, and nothing for what is not said."""
    if value is None or value is False or value in ([], ""):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return ",".join(each if isinstance(each, str) else json.dumps(each) for each in value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else str(value)
