"""Draws docs/states.md and docs/failures.md from the code: `python -m tools.drawings`. A test fails when they differ."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from tarantella.domain.breaker import BREAKER_TRANSITIONS, PROBES_BEFORE_GIVING_UP, STAYS_OPEN, TRIPS_AFTER
from tarantella.domain.failure import IN_WORDS, POLICY, RETRYABLE_STATUS, Blame, Failure
from tarantella.domain.page import INCOMPLETE_SKIPS, PAGE_TRANSITIONS, SKIP_IN_WORDS, Skip
from tarantella.domain.run import RUN_TRANSITIONS
from tarantella.domain.spec import Spec
from tarantella.domain.workflow import MOST_DEATHS, STEP_TRANSITIONS, WORKFLOW_TRANSITIONS

State = TypeVar("State", bound=StrEnum)
DOCS = Path(__file__).parent.parent / "docs"

WHEN: Mapping[Failure, str] = {
    Failure.BLOCKED: "401, 403, a challenge or block page",
    Failure.RATE_LIMITED: "429, or 503 with Retry-After",
    Failure.TIMEOUT: "connecting, reading or the whole took too long",
    Failure.NETWORK: "DNS, refused, reset, TLS, protocol, truncated, undecodable",
    Failure.BAD_RESPONSE: "other 4xx and 5xx, redirects that lead nowhere",
    Failure.NOT_FOUND: "404, 410",
    Failure.NEEDS_RENDER: "an empty shell that scripts would fill",
    Failure.RECORDING: "there is no [recording](replay.md), or it does not work any more",
    Failure.TOO_LARGE: "more bytes than the limits allow, compressed or not",
    Failure.DENIED: "an address that the egress guard refuses",
    Failure.PROXY: "the proxy failed, not the site",
    Failure.BROWSER: "the browser crashed or is not there",
    Failure.UNKNOWN: "anything else, a crash included",
}


def states_page() -> str:
    """The state machines."""
    return (
        "\n\n".join(
            [
                "# States\n\nDrawn from the code by `python -m tools.drawings`.",
                "## Run\n\nPause and cancel are first *wanted*, then actual. A run that is over comes back only by `retry-failed`.\n\n"
                + _diagram(RUN_TRANSITIONS, "queued"),
                "## Page\n\nA retry stays `pending` with a later time. Only `retry-failed` takes a page back.\n\n"
                + _diagram(PAGE_TRANSITIONS, "pending"),
                f"## Breaker of a host\n\nOpens after {TRIPS_AFTER} failures in a row (timeouts, network, 5xx), stays open for "
                f"{STAYS_OPEN:.0f} s, then lets one probe through. After {PROBES_BEFORE_GIVING_UP} failed probes the pages that "
                "wait for the host are closed as `host_down`.\n\n" + _diagram(BREAKER_TRANSITIONS, "closed"),
                "## Workflow\n\nOne that failed goes on by `recover` alone. One whose handlers live in a program is paused where that is gone.\n\n"
                + _diagram(WORKFLOW_TRANSITIONS, "pending"),
                "## Step of a workflow\n\nA step whose process died is queued again, which costs no retry; when that has happened "
                f"{MOST_DEATHS} times, it has failed. Only a recovery makes what is over `pending` again.\n\n"
                + _diagram(STEP_TRANSITIONS, "pending"),
            ]
        )
        + "\n"
    )


def _diagram(transitions: Mapping[State, frozenset[State]], first: str) -> str:
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {first}"]
    for state, targets in transitions.items():
        lines += [f"    {state} --> {target}" for target in sorted(targets)]
        if not targets:
            lines.append(f"    {state} --> [*]")
    return "\n".join([*lines, "```"])


TOLD: Mapping[Blame, str] = {
    Blame.HOST: "gets fewer requests at a time",
    Blame.PAGE: "has answered",
    Blame.OURS: "is told nothing",
}


def failures_page() -> str:
    """The failure table and the reasons for skipping."""
    backoff = Spec().backoff
    lines = [
        "# Failures\n",
        "One table decides what follows from a failure (`domain/failure.py`); this page is drawn from it.\n",
        "| code | in words | when | retried | another strategy | waits | its host |",
        "|---|---|---|---|---|---|---|",
    ]
    for failure, policy in POLICY.items():
        retry = "5xx, 408 and 425 only" if failure is Failure.BAD_RESPONSE else "yes" if policy.retry else "no"
        retry += "" if policy.charged else ", not counted as an attempt"
        waits = "" if not policy.retry else "backoff" if policy.backoff else "no"
        if policy.honour_retry_after:
            waits = "Retry-After for the whole host, else backoff"
        escalates = "if one is available" if policy.escalate else "no"
        lines.append(
            f"| `{failure}` | {IN_WORDS[failure]} | {WHEN[failure]} | {retry} | {escalates} | {waits} | {TOLD[policy.blame]} |"
        )
    assert {408, 425, 500, 599} <= RETRYABLE_STATUS
    waits = ", ".join(f"{backoff.delay(n, 0):.0f}" for n in range(1, 6))
    lines += [
        "",
        f"A page gets {Spec().attempts} attempts in all. The waits between them are {waits} … seconds, at most "
        f"{backoff.cap:.0f}, and up to {backoff.jitter:.0%} more by chance. Retry-After is obeyed for at most an hour.",
        "",
        "A run of which no page is done ends a command with exit code 1, whatever its pages were skipped for.",
        "",
        "## Skipped pages\n",
        "A failed page makes its run `partial`, or `failed` when nothing succeeded. So do skipped pages that left something undone.\n",
        "| reason | in words | leaves something undone |",
        "|---|---|---|",
    ]
    lines += [f"| `{skip}` | {SKIP_IN_WORDS[skip]} | {'yes' if skip in INCOMPLETE_SKIPS else 'no'} |" for skip in Skip]
    lines += [
        "",
        "Links that never become pages (another scheme, [out of scope, a trap](scope.md), malformed) are counted per reason, with samples,",
        "in `tarantella runs show`.",
    ]
    return "\n".join(lines) + "\n"


PAGES = {"states.md": states_page, "failures.md": failures_page}


def main() -> None:
    for name, draw in PAGES.items():
        (DOCS / name).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
