"""Runs, pages and events as JSON: stable names, moments in ISO 8601, no secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tarantella.cli import words
from tarantella.domain.url import redact

if TYPE_CHECKING:
    from tarantella.services.runs import Run


def run_json(run: Run) -> dict[str, Any]:
    """A run's numbers; `counts.total` is the sum of the other four."""
    counts = run.counts
    return {
        "id": run.id,
        "run_id": run.id,
        "status": run.status.value,
        "reason": run.reason,
        "urls": [redact(url) for url in run.roots],
        "counts": {
            "total": counts.total,
            "done": counts.done,
            "failed": counts.failed,
            "skipped": counts.skipped,
            "pending": counts.pending,
        },
        "records": run.records,
        "requests": run.requests,
        "bytes": run.bytes,
        "cost": run.cost,
        "disk_bytes": run.disk_bytes,
        "refused": {reason: entry["count"] for reason, entry in run.refused.items()},
        "sitemaps": run.sitemaps,
        "traps": [
            {"rule": note.rule, "pattern": note.pattern, "why": note.in_words, "example": note.sample}
            for note in run.traps
            if note.stopped
        ],
        "coverage": {each.name: each.to_json() for each in run.coverage},
        "failure_code": run.failure_code,
        "error_message": redact(run.error_message) if run.error_message else None,
        "created_at": words.iso(run.created_at),
        "started_at": words.iso(run.started_at),
        "finished_at": words.iso(run.finished_at),
        "deadline_at": words.iso(run.deadline_at),
    }


def page_json(page: Mapping[str, Any]) -> dict[str, Any]:
    """A page: where, how it ended, and why."""
    return {
        "id": page["id"],
        "kind": page["kind"],
        "url": redact(page["url"]),
        "final_url": redact(page["final_url"]) if page["final_url"] else None,
        "depth": page["depth"],
        "state": page["state"],
        "reason": page["reason"],
        "detail": redact(page["detail"]) if page["detail"] else None,
        "status": page["status"],
        "attempts": page["charged"],
        "strategy": page["strategy"],
        "next_at": words.iso(page["next_at"]) if page["state"] == "pending" else None,
    }


def attempt_json(attempt: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "n": attempt["n"],
        "strategy": attempt["strategy"],
        "started_at": words.iso(attempt["started_at"]),
        "elapsed_ms": attempt["elapsed_ms"],
        "status": attempt["status"],
        "bytes": attempt["bytes"],
        "failure": attempt["failure"],
        "detail": redact(attempt["detail"]) if attempt["detail"] else None,
        "decision": attempt["decision"],
    }


def event_json(event: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "run_id": event["run_id"],
        "sequence": event["sequence"],
        "at": words.iso(event["created_at"]),
        "level": event["level"],
        "message": event["message"],
        "meta": event["meta"],
    }
