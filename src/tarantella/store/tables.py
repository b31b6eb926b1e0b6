"""Every table. Times are seconds since the epoch; JSON is text that we write and read ourselves."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    text,
)

metadata = MetaData()

# SQLite only counts up by itself in a column of exactly this type.
_Serial = BigInteger().with_variant(Integer(), "sqlite")
_Id = String(36)


def _count(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, server_default=text("0"))


workers = Table(
    "workers",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("serves", _Id),  # the one run that it works for; without one, it works for all
    Column("host", String(255), nullable=False),
    Column("pid", BigInteger, nullable=False),
    Column("version", String(32), nullable=False),
    Column("started_at", Double, nullable=False),
    Column("beat", BigInteger, nullable=False, server_default=text("0")),
    Column("beat_at", Double, nullable=False),
    Column("hungry", Integer, nullable=False, server_default=text("0")),
    Column("dead_at", Double),
)

runs = Table(
    "runs",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("status", String(16), nullable=False),
    Column("wanted", String(8), nullable=False),
    Column("reason", Text),  # why it waits, was interrupted, or ended as it did
    Column("spec", Text, nullable=False),
    Column("secrets", Text),
    Column("roots", Text, nullable=False),  # the addresses that its scope is drawn around
    Column("keeper", _Id),  # the command that runs it; without one, the engines do
    Column("rank", Double, nullable=False),  # the order of admission
    _count("total"),
    _count("done"),
    _count("failed"),
    _count("skipped"),
    _count("pending"),
    _count("incomplete"),  # of the skipped: deadline, cancel, dead host
    _count("surplus"),  # of the skipped: more than max_pages
    _count("records"),
    _count("requests"),
    _count("bytes"),
    Column("refused", Text, nullable=False, server_default=text("'{}'")),
    _count("last_event"),
    Column("failure_code", String(32)),
    Column("error_message", Text),
    Column("created_at", Double, nullable=False),
    Column("started_at", Double),
    Column("paused_at", Double),
    Column("deadline_at", Double),
    Column("finished_at", Double),
    Index("runs_by_rank", "status", "rank"),
    Index("runs_by_age", "created_at", "id"),
)

pages = Table(
    "pages",
    metadata,
    Column("id", _Serial, primary_key=True, autoincrement=True),
    Column("run_id", _Id, nullable=False),
    Column("fingerprint", String(32), nullable=False),
    Column("lane", String(255), nullable=False),
    Column("url", Text, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("state", String(8), nullable=False),
    Column("reason", String(32)),
    Column("detail", Text),
    Column("tries", Integer, nullable=False, server_default=text("0")),  # grows with every outcome: the fence
    Column("charged", Integer, nullable=False, server_default=text("0")),  # of them, those that count as attempts
    Column("strategy", String(16), nullable=False),
    Column("next_at", Double, nullable=False),
    Column("hops", Integer, nullable=False, server_default=text("0")),
    Column("is_start", Integer, nullable=False, server_default=text("0")),
    Column("asked_url", Text),  # the address as it was found, once a redirect has led the page to another host
    Column("found_on", BigInteger),
    Column("status", Integer),
    Column("final_url", Text),
    Column("final_fingerprint", String(32)),
    Index("pages_once_per_run", "run_id", "fingerprint", unique=True),
    Index(
        "pages_pending",
        "lane",
        "run_id",
        "next_at",
        sqlite_where=text("state = 'pending'"),
        postgresql_where=text("state = 'pending'"),
    ),
    Index(
        "pages_in_trouble",
        "run_id",
        "state",
        "id",
        sqlite_where=text("state IN ('failed', 'skipped')"),
        postgresql_where=text("state IN ('failed', 'skipped')"),
    ),
    Index(
        "pages_redirected",
        "run_id",
        "final_fingerprint",
        sqlite_where=text("final_fingerprint IS NOT NULL"),
        postgresql_where=text("final_fingerprint IS NOT NULL"),
    ),
)

attempts = Table(
    "attempts",
    metadata,
    Column("page_id", BigInteger, primary_key=True, autoincrement=False),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("strategy", String(16), nullable=False),
    Column("started_at", Double, nullable=False),
    Column("elapsed_ms", Integer, nullable=False),
    Column("protocol", String(8)),  # http/1.1, h2, or cache
    Column("status", Integer),
    Column("bytes", BigInteger, nullable=False, server_default=text("0")),
    Column("failure", String(32)),
    Column("detail", Text),
    Column("decision", Text, nullable=False),
    sqlite_with_rowid=False,
)

records = Table(
    "records",
    metadata,
    Column("id", _Serial, primary_key=True, autoincrement=True),
    Column("run_id", _Id, nullable=False),
    Column("page_id", BigInteger, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("data", Text, nullable=False),
    Index("records_once_per_page", "page_id", "ordinal", unique=True),
    Index("records_of_run", "run_id", "id"),
)

bodies = Table(
    "bodies",
    metadata,
    Column("page_id", BigInteger, primary_key=True, autoincrement=False),
    Column("content_type", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),  # zlib
)

run_events = Table(
    "run_events",
    metadata,
    Column("run_id", _Id, primary_key=True),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("id", _Id, nullable=False),
    Column("level", String(8), nullable=False),
    Column("message", Text, nullable=False),
    Column("meta", Text, nullable=False),
    Column("created_at", Double, nullable=False),
)

lanes = Table(
    "lanes",
    metadata,
    Column("name", String(255), primary_key=True),
    Column("owner", _Id),
    Column("not_before", Double, nullable=False, server_default=text("0")),
    Column("breaker_state", String(16), nullable=False, server_default=text("'closed'")),
    Column("breaker_failures", Integer, nullable=False, server_default=text("0")),
    Column("breaker_open_until", Double, nullable=False, server_default=text("0")),
    Column("breaker_failed_probes", Integer, nullable=False, server_default=text("0")),
    Column("unclean_deaths", Integer, nullable=False, server_default=text("0")),  # of owners, in a row
    Index("lanes_by_owner", "owner"),
)

stands = Table(
    "stands",
    metadata,
    Column("run_id", _Id, primary_key=True),
    Column("lane", String(255), primary_key=True),
    Column("ready_at", Double),  # the earliest next_at of its pending pages
    Index("stands_of_lane", "lane", "run_id"),
    Index("stands_ready", "ready_at"),
)

cookies = Table(
    "cookies",
    metadata,
    Column("run_id", _Id, primary_key=True),
    Column("domain", String(255), primary_key=True),
    Column("path", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("secure", Integer, nullable=False),
    Column("host_only", Integer, nullable=False),
    Column("expires_at", Double),  # without one, with the run
    Column("set_at", Double, nullable=False),
    sqlite_with_rowid=False,
)

run_workers = Table(
    "run_workers",
    metadata,
    Column("run_id", _Id, primary_key=True),
    Column("worker_id", _Id, primary_key=True),
    Column("slots", Integer, nullable=False),
)
