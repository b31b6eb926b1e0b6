"""Hosts: what people allow them to be asked, and what they have shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import orjson

from tarantella.domain.breaker import Breaker, BreakerState
from tarantella.domain.errors import NotFound
from tarantella.domain.learning import REMEMBERED_SECONDS, Evidence, Learned, added, evidence_of, learned
from tarantella.domain.site import FREE, SitePolicy, Tally, faded, smoothed
from tarantella.domain.strategy import HTTP
from tarantella.domain.struct import Frozen
from tarantella.store.connection import Row
from tarantella.store.tx import Tx, pack

BEHIND_DUTIES = "!~"  # sorts behind the lanes that are no hosts
MOST_CODES = 32


class Ruling(NamedTuple):
    """What people have said of a lane's host, and what it has taught."""

    policy: SitePolicy = FREE
    breaker_resets: int = 0
    learned: str | None = None  # a strategy other than plain HTTP


UNRULED = Ruling()


class Site(Frozen):
    """A host as people see it."""

    host: str
    policy: SitePolicy
    policy_at: float | None
    requests: int
    failures: int
    codes: Mapping[str, int]
    recent_requests: float
    recent_failures: float
    usual_ms: float | None
    slots: float | None
    slots_limit: int | None
    delay: float | None
    last_ok_at: float | None
    last_failed_at: float | None
    seen_at: float | None
    evidence: Evidence
    learned: Learned | None
    owner: str | None
    not_before: float
    breaker: Breaker
    waiting_runs: int


def rulings(tx: Tx, names: Collection[str], learned_since: float) -> dict[str, Ruling]:
    """What people have said of these hosts, and what these have taught since then; most of them are not mentioned."""
    rows = tx.all(
        f"SELECT lanes.name, lanes.breaker_resets, {_POLICY}, "
        "CASE WHEN sites.learned_at > :since THEN sites.learned END AS learned FROM lanes LEFT JOIN sites ON sites.host = coalesce(lanes.host, lanes.name) "
        f"WHERE lanes.name IN (SELECT value FROM {tx.dialect.values('names')} AS r) "
        "AND (lanes.breaker_resets > 0 OR sites.policy_at IS NOT NULL OR (sites.learned <> :usual AND sites.learned_at > :since))",
        names=pack(sorted(names)),
        usual=HTTP.name,
        since=learned_since,
    )
    return {
        row.name: Ruling(_policy(row), row.breaker_resets, None if row.learned == HTTP.name else row.learned)
        for row in rows
    }


def get_policy(tx: Tx, host: str) -> SitePolicy:
    """The policy of a host, locked until it is changed."""
    row = tx.first(f"SELECT * FROM sites WHERE host = :host {tx.dialect.for_update}", host=host)
    return FREE if row is None else _policy(row)


def set_policy(tx: Tx, host: str, policy: SitePolicy, now: float) -> None:
    tx.execute(
        "INSERT INTO sites (host, per_host, delay, max_rate, obey_robots, paused, strategy, parts, policy_at) "
        "VALUES (:host, :per_host, :delay, :max_rate, :obey_robots, :paused, :strategy, :parts, :now) ON CONFLICT (host) DO UPDATE SET "
        "per_host = excluded.per_host, delay = excluded.delay, max_rate = excluded.max_rate, obey_robots = excluded.obey_robots, "
        "paused = excluded.paused, strategy = excluded.strategy, parts = excluded.parts, policy_at = excluded.policy_at",
        host=host,
        per_host=policy.per_host,
        delay=policy.delay,
        max_rate=policy.max_rate,
        obey_robots=int(policy.obey_robots),
        paused=int(policy.paused),
        strategy=policy.strategy,
        parts=policy.parts,
        now=now,
    )


def reset_breaker(tx: Tx, host: str) -> None:
    """Close a host's breaker; whoever owns its lane sees the number and does the same."""
    tx.execute(
        "UPDATE lanes SET breaker_state = 'closed', breaker_failures = 0, breaker_open_until = 0, "
        "breaker_failed_probes = 0, breaker_resets = breaker_resets + 1 WHERE name = :host OR host = :host",
        host=host,
    )


def in_parts(tx: Tx) -> dict[str, int]:
    """The hosts that are split, and in how many parts; hardly ever any."""
    return {row.host: row.parts for row in tx.all("SELECT host, parts FROM sites WHERE parts > 1")}


def tally(tx: Tx, tallies: Mapping[str, Tally], now: float, remembers: float = REMEMBERED_SECONDS) -> None:
    """Add what was asked of these hosts, and what came of it; what they taught longer ago than that is forgotten."""
    if not tallies:
        return
    known = {
        row.host: row
        for row in tx.all(
            f"SELECT * FROM sites WHERE host IN (SELECT value FROM {tx.dialect.values('hosts')} AS r) "
            f"ORDER BY host {tx.dialect.for_update}",
            hosts=pack(sorted(tallies)),
        )
    }
    rows = [_tallied(host, tallies[host], known.get(host), now, remembers) for host in sorted(tallies)]
    names = ", ".join(name for name, _ in _TALLIED)
    changes = ", ".join(f"{name} = excluded.{name}" for name, _ in _TALLIED[1:])
    tx.execute(
        f"INSERT INTO sites ({names}) SELECT {names} FROM {tx.dialect.rows('rows', _TALLIED)} AS r "
        f"WHERE true ON CONFLICT (host) DO UPDATE SET {changes}",
        rows=pack(rows),
    )


_TALLIED = [
    ("host", "TEXT"),
    ("requests", "BIGINT"),
    ("failures", "BIGINT"),
    ("codes", "TEXT"),
    ("recent_requests", "DOUBLE PRECISION"),
    ("recent_failures", "DOUBLE PRECISION"),
    ("usual_ms", "DOUBLE PRECISION"),
    ("slots", "DOUBLE PRECISION"),
    ("slots_limit", "INTEGER"),
    ("keeps_delay", "DOUBLE PRECISION"),
    ("last_ok_at", "DOUBLE PRECISION"),
    ("last_failed_at", "DOUBLE PRECISION"),
    ("seen_at", "DOUBLE PRECISION"),
    ("evidence", "TEXT"),
    ("learned", "TEXT"),
    ("learned_at", "DOUBLE PRECISION"),
]


def _tallied(host: str, new: Tally, row: Row | None, now: float, remembers: float) -> tuple[object, ...]:
    failures = new.failures.total()
    codes = dict(orjson.loads(row.codes)) if row is not None else {}
    for code, count in new.failures.items():
        codes[str(code)] = codes.get(str(code), 0) + count
    age = now - row.seen_at if row is not None and row.seen_at is not None else 0.0
    usual = row.usual_ms if row is not None else None
    return (
        host,
        new.requests + (row.requests if row is not None else 0),
        failures + (row.failures if row is not None else 0),
        orjson.dumps(dict(sorted(codes.items())[:MOST_CODES])).decode(),
        new.requests + faded(row.recent_requests if row is not None else 0.0, age),
        failures + faded(row.recent_failures if row is not None else 0.0, age),
        smoothed(usual, new.elapsed_ms / new.requests) if new.requests else usual,
        new.slots if new.slots is not None or row is None else row.slots,
        new.slots_limit if new.slots_limit is not None or row is None else row.slots_limit,
        new.delay if new.delay is not None or row is None else row.keeps_delay,
        now if new.requests > failures else (row.last_ok_at if row is not None else None),
        now if failures else (row.last_failed_at if row is not None else None),
        now,
        *_taught(new, row, now, remembers),
    )


def _taught(new: Tally, row: Row | None, now: float, remembers: float) -> tuple[str, str | None, float | None]:
    """The evidence with what was seen, and what follows from it."""
    if not new.seen:
        return (row.evidence, row.learned, row.learned_at) if row is not None else ("{}", None, None)
    before = row.learned if row is not None else None
    evidence = added(evidence_of(orjson.loads(row.evidence)) if row is not None else {}, new.seen, now, remembers)
    found = learned(evidence, before)
    stored = orjson.dumps({name: each.to_json() for name, each in evidence.items()}).decode()
    return (stored, found.strategy, found.at) if found is not None else (stored, None, None)


def get(tx: Tx, host: str) -> Site:
    row = tx.first(f"SELECT {_SHOWN} FROM (SELECT CAST(:host AS TEXT) AS host) AS h {_JOINED}", host=host)
    if row is None or (row.lane is None and row.site is None):
        raise NotFound(
            f"There is no site {host!r}: no run has been there, and nobody has said anything of it.",
            remedy="`tarantella sites list` shows those that there are.",
        )
    return _site(row)


def listed(tx: Tx, *, after: str = "", limit: int = 50, breaker_open: bool = False, paused: bool = False) -> list[Site]:
    """Hosts in their order, those that were visited and those that have a policy."""
    which = "".join(
        (" AND lanes.breaker_state <> 'closed'" if breaker_open else "", " AND sites.paused = 1" if paused else "")
    )
    # With nothing to filter by, only as many as are shown are looked at.
    some = "" if which else " ORDER BY 1 LIMIT :limit"
    rows = tx.all(
        f"SELECT {_SHOWN} FROM (SELECT host FROM (SELECT name AS host FROM lanes WHERE name > :after AND host IS NULL{some}) AS a "
        f"UNION SELECT host FROM (SELECT host FROM sites WHERE host > :after{some}) AS b) AS h {_JOINED} "
        f"WHERE true{which} ORDER BY h.host LIMIT :limit",
        after=max(after, BEHIND_DUTIES),
        limit=limit,
    )
    return [_site(row) for row in rows]


_POLICY = "sites.per_host, sites.delay, sites.max_rate, sites.obey_robots, sites.paused, sites.strategy, sites.parts"
_SHOWN = (
    f"h.host, sites.host AS site, lanes.name AS lane, {_POLICY}, sites.evidence, sites.learned, "
    "sites.policy_at, sites.requests, sites.failures, sites.codes, sites.recent_requests, sites.recent_failures, sites.usual_ms, "
    "sites.slots, sites.slots_limit, sites.keeps_delay, sites.last_ok_at, sites.last_failed_at, sites.seen_at, "
    "lanes.owner, lanes.not_before, lanes.breaker_state, lanes.breaker_failures, lanes.breaker_open_until, lanes.breaker_failed_probes, "
    "(SELECT count(*) FROM stands WHERE stands.lane = h.host AND ready_at IS NOT NULL) AS waiting_runs"
)
_JOINED = "LEFT JOIN sites ON sites.host = h.host LEFT JOIN lanes ON lanes.name = h.host"


def _site(row: Row) -> Site:
    state = BreakerState(row.breaker_state or BreakerState.CLOSED)
    return Site(
        host=row.host,
        policy=_policy(row),
        policy_at=row.policy_at,
        requests=row.requests or 0,
        failures=row.failures or 0,
        codes=orjson.loads(row.codes or "{}"),
        recent_requests=row.recent_requests or 0.0,
        recent_failures=row.recent_failures or 0.0,
        usual_ms=row.usual_ms,
        slots=row.slots,
        slots_limit=row.slots_limit,
        delay=row.keeps_delay,
        last_ok_at=row.last_ok_at,
        last_failed_at=row.last_failed_at,
        seen_at=row.seen_at,
        evidence=(evidence := evidence_of(orjson.loads(row.evidence or "{}"))),
        learned=learned(evidence, row.learned),
        owner=row.owner,
        not_before=row.not_before or 0.0,
        breaker=Breaker(
            state, row.breaker_failures or 0, row.breaker_open_until or 0.0, row.breaker_failed_probes or 0
        ),
        waiting_runs=row.waiting_runs,
    )


def _policy(row: Row) -> SitePolicy:
    robots, paused = bool(row.obey_robots), bool(row.paused)
    return SitePolicy(row.per_host, row.delay, row.max_rate, robots, paused, row.strategy, row.parts)
