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


def _word(length: int) -> String:
    """Short text that is compared byte by byte: how it sorts must not depend on where a server was set up."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")


_Id = _word(36)


def _count(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, server_default=text("0"))


def _index_where(condition: str, name: str, *columns: str) -> Index:
    """An index of only those rows."""
    return Index(name, *columns, sqlite_where=text(condition), postgresql_where=text(condition))


workers = Table(
    "workers",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("serves", _Id),  # the one run that it works for; without one, it works for all
    Column("host", _word(255), nullable=False),
    Column("pid", BigInteger, nullable=False),
    Column("version", _word(32), nullable=False),
    Column("started_at", Double, nullable=False),
    Column("beat", BigInteger, nullable=False, server_default=text("0")),
    Column("beat_at", Double, nullable=False),
    Column("hungry", Integer, nullable=False, server_default=text("0")),
    Column("dead_at", Double),
    _count("work"),  # what it could be doing now: in flight, or due and free to be taken
    _count("progress"),  # grows with whatever it gets done
    _count("in_flight"),
    Column("patience", Double, nullable=False, server_default=text("0")),  # how long one of its pages may take
    Column("node", _word(255)),  # Celery's name for the worker that it is a child of
    Column("has", Text, nullable=False, server_default=text("'[]'")),  # the strategies that it can use
    _count("lanes"),
    _count("memory"),  # bytes
    Column("rate", Double, nullable=False, server_default=text("0")),  # pages a second, at the last beat
    Column("progress_at", Double),
    _index_where("dead_at IS NULL", "workers_alive", "id"),
)

runs = Table(
    "runs",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("status", _word(16), nullable=False),
    Column("wanted", _word(8), nullable=False),
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
    _count("stored"),  # bytes of its records and kept bodies, as far as they are counted
    Column("refused", Text, nullable=False, server_default=text("'{}'")),
    _count("last_event"),
    Column("failure_code", _word(32)),
    Column("error_message", Text),
    Column("created_at", Double, nullable=False),
    Column("started_at", Double),
    Column("paused_at", Double),
    Column("deadline_at", Double),
    Column("finished_at", Double),
    _count("sitemaps"),  # of the total: they list pages and are none, so that max_pages is not about them
    Column("traps", Text, nullable=False, server_default=text("'[]'")),  # what the trap rules stopped, or are about to
    Column("job_id", _Id),  # the job that it is a run of
    Column("source", _word(16), nullable=False, server_default=text("'cli'")),  # who asked for it: cli, scraping, job
    Column("snapshot", Text),  # the job as it was when the run was made
    Column("requested_strategy", _word(16)),
    Column("resolved_strategy", _word(16)),  # what that came to: its pages may still escalate
    Column("attempt", Integer, nullable=False, server_default=text("1")),  # of its first page, once it is over
    Column("max_attempts", Integer),
    Column("stats", Text, nullable=False, server_default=text("'{}'")),  # of its first page, once it is over
    Column("export_format", _word(8)),
    Column("lacking", Text, nullable=False, server_default=text("'{}'")),  # records without a field, by field
    Column("costs", Text, nullable=False, server_default=text("'{}'")),  # of its strategies, plain HTTP aside
    Column("retries_below", BigInteger),  # failed pages with lower numbers are still to be taken back
    Index("runs_by_rank", "status", "rank"),
    Index("runs_by_age", "created_at", "id"),
    Index("runs_by_status_and_age", "status", "created_at", "id"),
    _index_where("keeper IS NOT NULL", "runs_by_keeper", "keeper"),
    _index_where("reason IN ('submitting', 'deleting')", "runs_unseen", "reason"),
    _index_where("wanted = 'cancel'", "runs_to_cancel", "status"),
    Index("runs_by_source", "source", "created_at", "id"),
    Index("runs_by_source_and_status", "source", "status", "created_at", "id"),
    _index_where("job_id IS NOT NULL", "runs_of_job", "job_id", "created_at", "id"),
    _index_where("finished_at IS NOT NULL", "runs_finished", "source", "finished_at"),
    _index_where("retries_below IS NOT NULL", "runs_retried", "id"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("version", Integer, nullable=False, server_default=text("1")),  # grows with every change
    Column("name", Text),
    Column("target_url", Text, nullable=False),
    Column("fields", Text, nullable=False),
    Column("requires_auth", Integer, nullable=False),
    Column("frequency", _word(100), nullable=False),
    Column("strategy", _word(16), nullable=False),
    Column("status", _word(16), nullable=False),
    Column("options", Text, nullable=False),  # how its runs crawl, where that is not as usual
    Column("secrets", Text),
    Column("warnings", Text, nullable=False),
    Column("keep_seconds", Double),  # how long its runs are kept once they are over; without one, until deleted
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Index("jobs_by_age", "created_at", "id"),
)

schedules = Table(
    "schedules",
    metadata,
    # The clockwork of a job that runs by itself. When that is, stands in the job.
    Column("job_id", _Id, primary_key=True),
    Column("next_at", Double),  # without one there is no next time
    Column("since", Double, nullable=False),  # from when intervals are counted
    Column("paused", Integer, nullable=False, server_default=text("0")),
    Column("last_at", Double),  # the last time that something came of
    Column("last_came", _word(8)),
    Column("last_detail", Text),
    Column("last_run_id", _Id),  # the last run that was made
    _count("runs"),
    _count("skipped"),
    _count("missed"),
    _count("refused"),
    Index("schedules_by_time", "next_at", "job_id"),
)

gaps = Table(
    "gaps",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("queue", Text, nullable=False),  # the file that it stands in
    Column("fingerprint", _word(32), nullable=False),  # by which it is known again, whatever a scan calls it
    Column("name", Text, nullable=False),  # what the file calls it
    Column("priority", Integer, nullable=False),
    Column("position", Integer, nullable=False),  # in the file
    Column("source", Text, nullable=False),
    Column("scraper", Text, nullable=False),
    Column("params", Text, nullable=False),
    Column("estimated_minutes", Double),
    Column("reason", Text),
    Column("scanned_at", Text),  # when the scan was made that it was last seen in
    Column("status", _word(20), nullable=False),
    Column("failure", _word(20)),
    Column("detail", Text),
    Column("tries", Integer, nullable=False, server_default=text("0")),  # grows with every execution
    Column("retry_count", Integer, nullable=False, server_default=text("0")),
    Column("deaths", Integer, nullable=False, server_default=text("0")),  # of processes that executed it
    Column("next_at", Double, nullable=False),
    Column("owner", _Id),  # the worker whose process executes it
    Column("host", Text),  # on which machine that is, or was
    Column("exit_code", Integer),
    Column("records", BigInteger),  # that its script says it collected
    Column("seconds", Double),
    Column("stdout", Text),
    Column("stderr", Text),
    Column("started_at", Double),
    Column("finished_at", Double),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Index("gaps_by_fingerprint", "queue", "fingerprint", unique=True),
    Index("gaps_in_order", "queue", "status", "priority", "position"),
    _index_where("status = 'running'", "gaps_under_way", "scraper"),
)

workflow_templates = Table(
    "workflow_templates",
    metadata,
    Column("name", _word(100), primary_key=True),
    Column("version", Integer, nullable=False, server_default=text("1")),  # grows with every change
    Column("definition", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
)

workflow_states = Table(
    "workflow_states",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("job_id", _Id),  # the job that it was made for
    Column("name", Text, nullable=False),
    Column("template", _word(100)),  # what it was made from, and at which version
    Column("version", Integer),
    Column("status", _word(20), nullable=False),
    Column("current_step", Integer, nullable=False, server_default=text("0")),
    Column("total_steps", Integer, nullable=False),
    Column("progress", Integer, nullable=False, server_default=text("0")),
    Column("metadata", Text, nullable=False, server_default=text("'{}'")),
    Column("definition", Text, nullable=False),  # as it was when it was made
    Column("error_message", Text),
    Column("reason", Text),  # why it was paused, cancelled or recovered
    Column("is_local", Integer, nullable=False, server_default=text("0")),  # its handlers live in somebody's program
    Column("keeper", _Id),  # the process that executes it; without one, the engines do
    Column("recovery_attempts", Integer, nullable=False, server_default=text("0")),
    Column("max_recovery_attempts", Integer, nullable=False, server_default=text("3")),
    _count("last_event"),
    Column("started_at", Double),
    Column("completed_at", Double),
    Column("last_checkpoint", Double),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Index("workflow_states_by_age", "created_at", "id"),
    Index("workflow_states_by_status", "status", "created_at", "id"),
    _index_where("job_id IS NOT NULL", "workflow_states_of_job", "job_id", "created_at", "id"),
    _index_where("keeper IS NOT NULL", "workflow_states_by_keeper", "keeper"),
)

workflow_tasks = Table(
    "workflow_tasks",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("workflow_id", _Id, nullable=False),
    Column("task_name", _word(100), nullable=False),
    Column("task_type", _word(50), nullable=False),
    Column("status", _word(20), nullable=False),
    Column("step_index", Integer, nullable=False),
    Column("kind", _word(8), nullable=False),  # job or handler: whose work it is
    Column("celery_task_id", _word(255)),  # one for each time that it is executed
    Column("retry_count", Integer, nullable=False, server_default=text("0")),
    Column("max_retries", Integer, nullable=False, server_default=text("3")),
    Column("dependencies", Text, nullable=False, server_default=text("'[]'")),  # ids of other tasks
    Column("result", Text, nullable=False, server_default=text("'{}'")),
    Column("error_message", Text),
    Column("next_at", Double),  # when it may begin, while it is queued or to be tried again
    Column("owner", _Id),  # the worker that is at it
    Column("tries", Integer, nullable=False, server_default=text("0")),  # grows with every execution: the fence
    Column("deaths", Integer, nullable=False, server_default=text("0")),  # of processes that were at it
    Column("run_id", _Id),  # the run that it waits for
    Column("deadline_at", Double),  # of this execution
    Column("started_at", Double),
    Column("completed_at", Double),
    Column("estimated_duration", Double),
    Column("actual_duration", Double),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Index("workflow_tasks_in_order", "workflow_id", "step_index", unique=True),
    Index("workflow_tasks_by_status", "workflow_id", "status"),
    _index_where("celery_task_id IS NOT NULL", "workflow_tasks_by_celery_id", "celery_task_id"),
    _index_where("status IN ('queued', 'retrying', 'running')", "workflow_tasks_under_way", "status", "next_at"),
    _index_where("run_id IS NOT NULL", "workflow_tasks_by_run", "run_id"),
)

workflow_step_sums = Table(  # of all steps that ever ended, also of workflows that are gone
    "workflow_step_sums",
    metadata,
    Column("task_type", _word(50), primary_key=True),
    Column("status", _word(20), primary_key=True),  # how they ended
    _count("steps"),
    Column("seconds", Double, nullable=False),
)

workflow_events = Table(
    "workflow_events",
    metadata,
    Column("workflow_id", _Id, primary_key=True),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("level", _word(8), nullable=False),
    Column("message", Text, nullable=False),
    Column("meta", Text, nullable=False),
    Column("created_at", Double, nullable=False),
)

recordings = Table(
    "recordings",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("job_id", _Id, nullable=False),
    Column("run_id", _Id),  # the run that made it
    Column("host", _word(255), nullable=False),  # whom it asks
    Column("purpose", _word(32), nullable=False),  # a mark of what its job wanted
    Column("made_by", _word(16), nullable=False),
    Column("template", Text, nullable=False),  # the question, its secrets blotted out
    Column("secrets", Text),
    Column("reading", Text, nullable=False),  # where the fields are, and how it goes on
    Column("shape", _word(16), nullable=False),  # a mark of how the answer is built
    Column("confidence", Double, nullable=False),
    Column("created_at", Double, nullable=False),
    _count("uses"),
    Column("worked_at", Double),
    Column("failed_at", Double),  # it is not used any more
    Column("failure", Text),
    Index("recordings_of_job", "job_id", "created_at", "id"),
    Index("recordings_by_age", "created_at", "id"),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("key", _word(255), primary_key=True),
    Column("digest", _word(64), nullable=False),  # of the request that came with it
    Column("status", Integer, nullable=False),
    Column("answer", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Index("idempotency_keys_by_age", "created_at"),
)

pages = Table(
    "pages",
    metadata,
    Column("id", _Serial, primary_key=True, autoincrement=True),
    Column("run_id", _Id, nullable=False),
    Column("fingerprint", _word(32), nullable=False),
    Column("lane", _word(255), nullable=False),
    Column("url", Text, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("state", _word(8), nullable=False),
    Column("reason", _word(32)),
    Column("detail", Text),
    Column("tries", Integer, nullable=False, server_default=text("0")),  # grows with every outcome: the fence
    Column("charged", Integer, nullable=False, server_default=text("0")),  # of them, those that count as attempts
    Column("strategy", _word(16), nullable=False),
    Column("next_at", Double, nullable=False),
    Column("hops", Integer, nullable=False, server_default=text("0")),
    Column("is_start", Integer, nullable=False, server_default=text("0")),
    Column("asked_url", Text),  # the address as it was found, once a redirect has led the page to another host
    Column("found_on", BigInteger),
    Column("status", Integer),
    Column("final_url", Text),
    Column("final_fingerprint", _word(32)),
    Column("kind", _word(16), nullable=False, server_default=text("'page'")),
    Index("pages_once_per_run", "run_id", "fingerprint", unique=True),
    Index("pages_of_run", "run_id", "id"),
    _index_where("state = 'pending'", "pages_pending", "lane", "run_id", "next_at"),
    _index_where("state IN ('failed', 'skipped')", "pages_in_trouble", "run_id", "state", "id"),
    _index_where("reason IS NOT NULL", "pages_by_reason", "run_id", "reason", "id"),
    _index_where("final_fingerprint IS NOT NULL", "pages_redirected", "run_id", "final_fingerprint"),
)

attempts = Table(
    "attempts",
    metadata,
    Column("page_id", BigInteger, primary_key=True, autoincrement=False),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("strategy", _word(16), nullable=False),
    Column("started_at", Double, nullable=False),
    Column("elapsed_ms", Integer, nullable=False),
    Column("protocol", _word(8)),  # http/1.1, h2, or cache
    Column("status", Integer),
    Column("bytes", BigInteger, nullable=False, server_default=text("0")),
    Column("failure", _word(32)),
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
    Column("level", _word(8), nullable=False),
    Column("message", Text, nullable=False),
    Column("meta", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    _index_where("level IN ('warn', 'error')", "run_events_of_trouble", "run_id", "level", "sequence"),
)

lanes = Table(
    "lanes",
    metadata,
    Column("name", _word(255), primary_key=True),
    Column("owner", _Id),
    Column("not_before", Double, nullable=False, server_default=text("0")),
    Column("breaker_state", _word(16), nullable=False, server_default=text("'closed'")),
    Column("breaker_failures", Integer, nullable=False, server_default=text("0")),
    Column("breaker_open_until", Double, nullable=False, server_default=text("0")),
    Column("breaker_failed_probes", Integer, nullable=False, server_default=text("0")),
    Column("unclean_deaths", Integer, nullable=False, server_default=text("0")),  # of owners, in a row
    Column("breaker_resets", Integer, nullable=False, server_default=text("0")),  # by people; its owner follows
    Column("needs", _word(16)),  # a strategy that somebody who had the lane lacked
    Column("host", _word(255)),  # of which it is a part; without one, it is the host itself
    Index("lanes_by_owner", "owner"),
)

stands = Table(
    "stands",
    metadata,
    Column("run_id", _Id, primary_key=True),
    Column("lane", _word(255), primary_key=True),
    Column("ready_at", Double),  # the earliest next_at of its pending pages
    Index("stands_of_lane", "lane", "run_id"),
)

cookies = Table(
    "cookies",
    metadata,
    Column("run_id", _Id, primary_key=True),
    Column("domain", _word(255), primary_key=True),
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

wakes = Table(
    "wakes",
    metadata,
    # A message of Celery's, and what it woke. One that was delivered twice may have woken two workers.
    Column("task_id", _word(64), primary_key=True),
    Column("worker_id", _Id, primary_key=True),
    Column("run_id", _Id, primary_key=True),
    Column("woken_at", Double, nullable=False),
    Index("wakes_of_run", "run_id", "woken_at"),
    Index("wakes_by_age", "woken_at"),
    sqlite_with_rowid=False,
)

sites = Table(
    "sites",
    metadata,
    Column("host", _word(255), primary_key=True),
    # What people allow; what is not said is left to the runs.
    Column("per_host", Integer),
    Column("delay", Double),
    Column("max_rate", Double),
    Column("obey_robots", Integer, nullable=False, server_default=text("0")),
    Column("paused", Integer, nullable=False, server_default=text("0")),
    Column("policy_at", Double),
    Column("strategy", _word(16)),  # pinned
    # What it has shown.
    _count("requests"),
    _count("failures"),
    Column("codes", Text, nullable=False, server_default=text("'{}'")),
    Column("recent_requests", Double, nullable=False, server_default=text("0")),  # fading, as of seen_at
    Column("recent_failures", Double, nullable=False, server_default=text("0")),
    Column("usual_ms", Double),
    Column("slots", Double),  # of the throttle, when it was last seen at work
    Column("slots_limit", Integer),
    Column("keeps_delay", Double),
    Column("last_ok_at", Double),
    Column("last_failed_at", Double),
    Column("seen_at", Double),
    Column("evidence", Text, nullable=False, server_default=text("'{}'")),  # of strategies
    Column("learned", _word(16)),  # the cheapest strategy that works, by the evidence
    Column("learned_at", Double),
    Column("parts", Integer),
    _index_where("paused = 1", "sites_paused", "host"),
    _index_where("parts > 1", "sites_in_parts", "host"),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("name", Text),
    Column("scope", _word(8), nullable=False),
    Column("digest", _word(64), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("revoked_at", Double),
)

counters = Table(
    "counters",
    metadata,
    Column("name", _word(255), primary_key=True),  # with its labels, as Prometheus reads it
    _count("value"),
)
