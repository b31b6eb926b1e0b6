"""Cookies that sites set during a run: stored with the page that brought them, known to whoever takes pages next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tarantella.domain.cookie import Cookie, domains_of
from tarantella.domain.outcome import Outcome
from tarantella.store.tx import Tx, pack

MAX_PER_RUN = 3_000

_COLUMNS = ("run_id", "domain", "path", "name", "value", "secure", "host_only", "expires_at", "set_at")
_NEWER = (
    "(run_id, domain, path, name) DO UPDATE SET value = excluded.value, secure = excluded.secure, "
    "host_only = excluded.host_only, expires_at = excluded.expires_at, set_at = excluded.set_at "
    "WHERE excluded.set_at >= cookies.set_at"
)


def keep(tx: Tx, outcomes: Sequence[Outcome]) -> None:
    """Store what these attempts were given. The caller holds the rows of their runs, so that nobody else does so meanwhile."""
    rows: dict[tuple[str, ...], tuple[Any, ...]] = {}
    for o in outcomes:
        for cookie in o.cookies:
            key = (o.page.run_id, *cookie.key)
            if key not in rows or rows[key][-1] <= cookie.set_at:
                rows[key] = (*key, *_values(cookie))
    if not rows:
        return
    tx.insert("cookies", _COLUMNS, [rows[key] for key in sorted(rows)], conflict=_NEWER)
    for run_id in sorted({key[0] for key in rows}):
        _forget_oldest(tx, run_id)


def of_host(tx: Tx, run_id: str, host: str) -> list[Cookie]:
    """All that a run has for this host and the domains above it, what was deleted included."""
    rows = tx.array(
        _COLUMNS[1:],
        f"FROM cookies WHERE run_id = :run AND domain IN (SELECT value FROM {tx.dialect.values('domains')} AS r)",
        run=run_id,
        domains=pack(domains_of(host)),
    )
    found = []
    for domain, path, name, value, secure, host_only, expires_at, set_at in rows:
        cookie = Cookie(name, value, domain, path, bool(secure), bool(host_only), expires_at, set_at)
        if cookie.belongs_to(host):
            found.append(cookie)
    return found


def _values(cookie: Cookie) -> tuple[Any, ...]:
    return cookie.value, int(cookie.secure), int(cookie.host_only), cookie.expires_at, cookie.set_at


def _forget_oldest(tx: Tx, run_id: str) -> None:
    """Keep the table small whatever sites do."""
    surplus = tx.value("SELECT count(*) FROM cookies WHERE run_id = :run", run=run_id) - MAX_PER_RUN
    if surplus > 0:
        tx.execute(
            "DELETE FROM cookies WHERE run_id = :run AND (domain, path, name) IN (SELECT domain, path, name FROM cookies "
            "WHERE run_id = :run ORDER BY set_at, domain, path, name LIMIT :surplus)",
            run=run_id,
            surplus=surplus,
        )
