"""How the execution of a script ended, and what follows: one table, and nothing else decides."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum

from tarantella.domain.scraper import Retry
from tarantella.domain.struct import Frozen


class ScriptFailure(StrEnum):
    """Why a gap was not filled."""

    CONFIG = "config"
    SCRIPT = "script"
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    BLOCKED = "blocked"
    NETWORK = "network"
    NO_DATA = "no_data"
    EXIT = "exit"
    SIGNAL = "signal"
    CRASH = "crash"


class Policy(Frozen):
    """What follows from a failure."""

    retry: bool
    slower: float  # times as long as usual is waited before it
    words: str


_F = ScriptFailure
POLICY: Mapping[ScriptFailure, Policy] = {
    _F.CONFIG: Policy(False, 1.0, "the scraper is unknown, or can't be told of the gap: mend its configuration"),
    _F.SCRIPT: Policy(False, 1.0, "its script is missing, or several could be meant"),
    _F.TIMEOUT: Policy(True, 1.0, "it took longer than it may"),
    _F.RATE_LIMITED: Policy(True, 10.0, "it says that a site asked it to slow down"),
    _F.BLOCKED: Policy(True, 10.0, "it says that a site refused it"),
    _F.NETWORK: Policy(True, 1.0, "it says that a connection failed"),
    _F.NO_DATA: Policy(False, 1.0, "it ended well and collected nothing: asked again at once, it would say the same"),
    _F.EXIT: Policy(True, 1.0, "it ended with an exit code other than 0"),
    _F.SIGNAL: Policy(True, 1.0, "a signal ended it"),
    _F.CRASH: Policy(False, 1.0, "whoever executed it died each time"),
}

# Looked for in what a script that failed said last; the first that fits counts.
_SAID = (
    (_F.RATE_LIMITED, re.compile(r"\brate.?limit|\b429\b|too many requests|quota exceeded", re.IGNORECASE)),
    (_F.BLOCKED, re.compile(r"\b40[13]\b|\bforbidden\b|\bunauthori[sz]ed\b|\bcaptcha\b|access denied", re.IGNORECASE)),
    (
        _F.NETWORK,
        re.compile(
            r"connection ?(?:refused|reset|error|aborted|timed out)|connecterror|read ?timeout|timed out|timeouterror"
            r"|name or service not known|name resolution|network is unreachable|no route to host|\b50[234]\b",
            re.IGNORECASE,
        ),
    ),
)
MOST_RECORDS = 2**63 - 1  # that a database can hold; whoever claims more is not believed either
_LAST = 4_000  # characters in which a reason is looked for
_COUNTED = r"(?:records?|items?|rows?|games?|pages?|files?|entries|results?|objects?|documents?)"
_DONE = r"(?:collected|saved|written|wrote|downloaded|scraped|fetched|inserted|uploaded|stored|processed)"
_NUMBER = r"(\d{1,3}(?:,\d{3})+|\d+)"
_COUNTS = (
    re.compile(rf"\b{_DONE}\b\D{{0,20}}?\b{_NUMBER}\b", re.IGNORECASE),
    re.compile(rf"\b{_NUMBER}(?:\s*(?:of|/)\s*\d[\d,]*)?\s+(?:\w+\s+)?{_COUNTED}\b", re.IGNORECASE),
    re.compile(rf"\b{_COUNTED}\s*[:=]\s*{_NUMBER}\b", re.IGNORECASE),
)
_KEYS = ("records", "items", "rows", "count", "collected", "downloaded", "saved", "written", "files")


class Ended(Frozen):
    """What came of an execution."""

    failure: ScriptFailure | None = None
    detail: str | None = None
    records: int | None = None  # that it says it collected; None where it says nothing of it
    exit_code: int | None = None
    seconds: float = 0.0
    stdout: str = ""
    stderr: str = ""


def again_after(failure: ScriptFailure, failures: int, retry: Retry) -> float | None:
    """In how many seconds it is tried again after it has failed so often; None where it is not."""
    policy = POLICY[failure]
    if not policy.retry or failures >= retry.max_attempts:
        return None
    return min(retry.max_delay, retry.delay(failures) * policy.slower)


def judged(exit_code: int, seconds: float, stdout: str, stderr: str) -> Ended:
    """What an execution that ended by itself came to."""
    records = counted(stdout)
    failure: ScriptFailure | None = None
    detail: str | None = None
    if exit_code < 0:
        failure, detail = _F.SIGNAL, f"signal {-exit_code}"
    elif exit_code > 0:
        said = f"{stdout[-_LAST:]}\n{stderr[-_LAST:]}"
        failure = next((code for code, pattern in _SAID if pattern.search(said)), _F.EXIT)
        detail = f"exit code {exit_code}"
        if last := _last_line(stderr) or _last_line(stdout):
            detail += f": {last}"
    elif records == 0:
        failure, detail = _F.NO_DATA, "it says that it collected nothing"
    elif records is None and not stdout.strip() and not stderr.strip():
        failure, detail = _F.NO_DATA, "it said nothing at all"
    return Ended(failure, detail, records, exit_code, round(seconds, 3), stdout, stderr)


def counted(stdout: str) -> int | None:
    """How much a script says it collected: in the last line that tells, as JSON or in words."""
    for line in reversed(stdout[-_LAST:].splitlines()):
        if (told := _from_json(line)) is not None:
            return told
        for pattern in _COUNTS:
            if found := pattern.search(line):
                return min(MOST_RECORDS, int(found[1].replace(",", "")))
    return None


def _from_json(line: str) -> int | None:
    line = line.strip()
    if not line.startswith("{"):
        return None
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    for key in _KEYS:
        value = said.get(key)
        if isinstance(value, list):
            return len(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return min(MOST_RECORDS, max(0, value))
    return None


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip()[:300] if lines else ""
