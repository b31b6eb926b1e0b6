"""Which runs nobody wants to keep any longer."""

from __future__ import annotations

from tarantella.store.tx import Tx

TASKS_ARE_KEPT = 86_400.0


def expired(tx: Tx, *, cleanup_interval: float, now: float, limit: int) -> list[str]:
    """Tasks that have been over for so long, and runs of jobs for as long as their job says; never those of commands."""
    tasks = tx.all(
        # The first condition is that of the index, word for word.
        "SELECT id FROM runs WHERE finished_at IS NOT NULL AND source = 'scraping' AND finished_at <= :before "
        "ORDER BY finished_at LIMIT :limit",
        before=now - cleanup_interval,
        limit=limit,
    )
    of_jobs = tx.all(
        "SELECT runs.id FROM jobs JOIN runs ON runs.job_id = jobs.id WHERE jobs.keep_seconds IS NOT NULL "
        # Nothing ends before it begins: this finds them in the index.
        "AND runs.created_at <= :now - jobs.keep_seconds AND runs.finished_at <= :now - jobs.keep_seconds LIMIT :limit",
        now=now,
        limit=limit,
    )
    return [row.id for row in (*tasks, *of_jobs)][:limit]
