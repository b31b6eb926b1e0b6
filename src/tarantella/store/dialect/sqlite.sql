-- Written by `python -m tools.tables`; a test fails when it differs from the code.

CREATE TABLE attempts (
	page_id BIGINT NOT NULL,
	n INTEGER NOT NULL,
	strategy VARCHAR(16) NOT NULL,
	started_at DOUBLE NOT NULL,
	elapsed_ms INTEGER NOT NULL,
	protocol VARCHAR(8),
	status INTEGER,
	bytes BIGINT DEFAULT 0 NOT NULL,
	failure VARCHAR(32),
	detail TEXT,
	decision TEXT NOT NULL,
	PRIMARY KEY (page_id, n)
)
 WITHOUT ROWID;

CREATE TABLE bodies (
	page_id BIGINT NOT NULL,
	content_type TEXT NOT NULL,
	body BLOB NOT NULL,
	PRIMARY KEY (page_id)
);

CREATE TABLE cookies (
	run_id VARCHAR(36) NOT NULL,
	domain VARCHAR(255) NOT NULL,
	path TEXT NOT NULL,
	name TEXT NOT NULL,
	value TEXT NOT NULL,
	secure INTEGER NOT NULL,
	host_only INTEGER NOT NULL,
	expires_at DOUBLE,
	set_at DOUBLE NOT NULL,
	PRIMARY KEY (run_id, domain, path, name)
)
 WITHOUT ROWID;

CREATE TABLE counters (
	name VARCHAR(255) NOT NULL,
	value BIGINT DEFAULT 0 NOT NULL,
	PRIMARY KEY (name)
);

CREATE TABLE gaps (
	id VARCHAR(36) NOT NULL,
	queue TEXT NOT NULL,
	fingerprint VARCHAR(32) NOT NULL,
	name TEXT NOT NULL,
	priority INTEGER NOT NULL,
	position INTEGER NOT NULL,
	source TEXT NOT NULL,
	scraper TEXT NOT NULL,
	params TEXT NOT NULL,
	estimated_minutes DOUBLE,
	reason TEXT,
	scanned_at TEXT,
	status VARCHAR(20) NOT NULL,
	failure VARCHAR(20),
	detail TEXT,
	tries INTEGER DEFAULT 0 NOT NULL,
	retry_count INTEGER DEFAULT 0 NOT NULL,
	deaths INTEGER DEFAULT 0 NOT NULL,
	next_at DOUBLE NOT NULL,
	owner VARCHAR(36),
	host TEXT,
	exit_code INTEGER,
	records BIGINT,
	seconds DOUBLE,
	stdout TEXT,
	stderr TEXT,
	started_at DOUBLE,
	finished_at DOUBLE,
	created_at DOUBLE NOT NULL,
	updated_at DOUBLE NOT NULL,
	PRIMARY KEY (id)
);

CREATE UNIQUE INDEX gaps_by_fingerprint ON gaps (queue, fingerprint);

CREATE INDEX gaps_in_order ON gaps (queue, status, priority, position);

CREATE INDEX gaps_under_way ON gaps (scraper) WHERE status = 'running';

CREATE TABLE idempotency_keys (
	"key" VARCHAR(255) NOT NULL,
	digest VARCHAR(64) NOT NULL,
	status INTEGER NOT NULL,
	answer TEXT NOT NULL,
	created_at DOUBLE NOT NULL,
	PRIMARY KEY ("key")
);

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE jobs (
	id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT 1 NOT NULL,
	name TEXT,
	target_url TEXT NOT NULL,
	fields TEXT NOT NULL,
	requires_auth INTEGER NOT NULL,
	frequency VARCHAR(100) NOT NULL,
	strategy VARCHAR(16) NOT NULL,
	status VARCHAR(16) NOT NULL,
	options TEXT NOT NULL,
	secrets TEXT,
	warnings TEXT NOT NULL,
	keep_seconds DOUBLE,
	created_at DOUBLE NOT NULL,
	updated_at DOUBLE NOT NULL,
	PRIMARY KEY (id)
);

CREATE INDEX jobs_by_age ON jobs (created_at, id);

CREATE TABLE lanes (
	name VARCHAR(255) NOT NULL,
	owner VARCHAR(36),
	not_before DOUBLE DEFAULT 0 NOT NULL,
	breaker_state VARCHAR(16) DEFAULT 'closed' NOT NULL,
	breaker_failures INTEGER DEFAULT 0 NOT NULL,
	breaker_open_until DOUBLE DEFAULT 0 NOT NULL,
	breaker_failed_probes INTEGER DEFAULT 0 NOT NULL,
	unclean_deaths INTEGER DEFAULT 0 NOT NULL,
	breaker_resets INTEGER DEFAULT 0 NOT NULL,
	needs VARCHAR(16),
	host VARCHAR(255),
	PRIMARY KEY (name)
);

CREATE INDEX lanes_by_owner ON lanes (owner);

CREATE TABLE pages (
	id INTEGER NOT NULL,
	run_id VARCHAR(36) NOT NULL,
	fingerprint VARCHAR(32) NOT NULL,
	lane VARCHAR(255) NOT NULL,
	url TEXT NOT NULL,
	depth INTEGER NOT NULL,
	state VARCHAR(8) NOT NULL,
	reason VARCHAR(32),
	detail TEXT,
	tries INTEGER DEFAULT 0 NOT NULL,
	charged INTEGER DEFAULT 0 NOT NULL,
	strategy VARCHAR(16) NOT NULL,
	next_at DOUBLE NOT NULL,
	hops INTEGER DEFAULT 0 NOT NULL,
	is_start INTEGER DEFAULT 0 NOT NULL,
	asked_url TEXT,
	found_on BIGINT,
	status INTEGER,
	final_url TEXT,
	final_fingerprint VARCHAR(32),
	kind VARCHAR(16) DEFAULT 'page' NOT NULL,
	PRIMARY KEY (id)
);

CREATE INDEX pages_by_reason ON pages (run_id, reason, id) WHERE reason IS NOT NULL;

CREATE INDEX pages_in_trouble ON pages (run_id, state, id) WHERE state IN ('failed', 'skipped');

CREATE INDEX pages_of_run ON pages (run_id, id);

CREATE UNIQUE INDEX pages_once_per_run ON pages (run_id, fingerprint);

CREATE INDEX pages_pending ON pages (lane, run_id, next_at) WHERE state = 'pending';

CREATE INDEX pages_redirected ON pages (run_id, final_fingerprint) WHERE final_fingerprint IS NOT NULL;

CREATE TABLE recordings (
	id VARCHAR(36) NOT NULL,
	job_id VARCHAR(36) NOT NULL,
	run_id VARCHAR(36),
	host VARCHAR(255) NOT NULL,
	purpose VARCHAR(32) NOT NULL,
	made_by VARCHAR(16) NOT NULL,
	template TEXT NOT NULL,
	secrets TEXT,
	reading TEXT NOT NULL,
	shape VARCHAR(16) NOT NULL,
	confidence DOUBLE NOT NULL,
	created_at DOUBLE NOT NULL,
	uses BIGINT DEFAULT 0 NOT NULL,
	worked_at DOUBLE,
	failed_at DOUBLE,
	failure TEXT,
	PRIMARY KEY (id)
);

CREATE INDEX recordings_by_age ON recordings (created_at, id);

CREATE INDEX recordings_of_job ON recordings (job_id, created_at, id);

CREATE TABLE records (
	id INTEGER NOT NULL,
	run_id VARCHAR(36) NOT NULL,
	page_id BIGINT NOT NULL,
	ordinal INTEGER NOT NULL,
	data TEXT NOT NULL,
	PRIMARY KEY (id)
);

CREATE INDEX records_of_run ON records (run_id, id);

CREATE UNIQUE INDEX records_once_per_page ON records (page_id, ordinal);

CREATE TABLE run_events (
	run_id VARCHAR(36) NOT NULL,
	sequence BIGINT NOT NULL,
	id VARCHAR(36) NOT NULL,
	level VARCHAR(8) NOT NULL,
	message TEXT NOT NULL,
	meta TEXT NOT NULL,
	created_at DOUBLE NOT NULL,
	PRIMARY KEY (run_id, sequence)
);

CREATE INDEX run_events_of_trouble ON run_events (run_id, level, sequence) WHERE level IN ('warn', 'error');

CREATE TABLE run_workers (
	run_id VARCHAR(36) NOT NULL,
	worker_id VARCHAR(36) NOT NULL,
	slots INTEGER NOT NULL,
	PRIMARY KEY (run_id, worker_id)
);

CREATE TABLE runs (
	id VARCHAR(36) NOT NULL,
	status VARCHAR(16) NOT NULL,
	wanted VARCHAR(8) NOT NULL,
	reason TEXT,
	spec TEXT NOT NULL,
	secrets TEXT,
	roots TEXT NOT NULL,
	keeper VARCHAR(36),
	rank DOUBLE NOT NULL,
	total BIGINT DEFAULT 0 NOT NULL,
	done BIGINT DEFAULT 0 NOT NULL,
	failed BIGINT DEFAULT 0 NOT NULL,
	skipped BIGINT DEFAULT 0 NOT NULL,
	pending BIGINT DEFAULT 0 NOT NULL,
	incomplete BIGINT DEFAULT 0 NOT NULL,
	surplus BIGINT DEFAULT 0 NOT NULL,
	records BIGINT DEFAULT 0 NOT NULL,
	requests BIGINT DEFAULT 0 NOT NULL,
	bytes BIGINT DEFAULT 0 NOT NULL,
	stored BIGINT DEFAULT 0 NOT NULL,
	refused TEXT DEFAULT '{}' NOT NULL,
	last_event BIGINT DEFAULT 0 NOT NULL,
	failure_code VARCHAR(32),
	error_message TEXT,
	created_at DOUBLE NOT NULL,
	started_at DOUBLE,
	paused_at DOUBLE,
	deadline_at DOUBLE,
	finished_at DOUBLE,
	sitemaps BIGINT DEFAULT 0 NOT NULL,
	traps TEXT DEFAULT '[]' NOT NULL,
	job_id VARCHAR(36),
	source VARCHAR(16) DEFAULT 'cli' NOT NULL,
	snapshot TEXT,
	requested_strategy VARCHAR(16),
	resolved_strategy VARCHAR(16),
	attempt INTEGER DEFAULT 1 NOT NULL,
	max_attempts INTEGER,
	stats TEXT DEFAULT '{}' NOT NULL,
	export_format VARCHAR(8),
	lacking TEXT DEFAULT '{}' NOT NULL,
	costs TEXT DEFAULT '{}' NOT NULL,
	retries_below BIGINT,
	PRIMARY KEY (id)
);

CREATE INDEX runs_by_age ON runs (created_at, id);

CREATE INDEX runs_by_keeper ON runs (keeper) WHERE keeper IS NOT NULL;

CREATE INDEX runs_by_rank ON runs (status, rank);

CREATE INDEX runs_by_source ON runs (source, created_at, id);

CREATE INDEX runs_by_source_and_status ON runs (source, status, created_at, id);

CREATE INDEX runs_by_status_and_age ON runs (status, created_at, id);

CREATE INDEX runs_finished ON runs (source, finished_at) WHERE finished_at IS NOT NULL;

CREATE INDEX runs_of_job ON runs (job_id, created_at, id) WHERE job_id IS NOT NULL;

CREATE INDEX runs_retried ON runs (id) WHERE retries_below IS NOT NULL;

CREATE INDEX runs_to_cancel ON runs (status) WHERE wanted = 'cancel';

CREATE INDEX runs_unseen ON runs (reason) WHERE reason IN ('submitting', 'deleting');

CREATE TABLE schedules (
	job_id VARCHAR(36) NOT NULL,
	next_at DOUBLE,
	since DOUBLE NOT NULL,
	paused INTEGER DEFAULT 0 NOT NULL,
	last_at DOUBLE,
	last_came VARCHAR(8),
	last_detail TEXT,
	last_run_id VARCHAR(36),
	runs BIGINT DEFAULT 0 NOT NULL,
	skipped BIGINT DEFAULT 0 NOT NULL,
	missed BIGINT DEFAULT 0 NOT NULL,
	refused BIGINT DEFAULT 0 NOT NULL,
	PRIMARY KEY (job_id)
);

CREATE INDEX schedules_by_time ON schedules (next_at, job_id);

CREATE TABLE sites (
	host VARCHAR(255) NOT NULL,
	per_host INTEGER,
	delay DOUBLE,
	max_rate DOUBLE,
	obey_robots INTEGER DEFAULT 0 NOT NULL,
	paused INTEGER DEFAULT 0 NOT NULL,
	policy_at DOUBLE,
	strategy VARCHAR(16),
	requests BIGINT DEFAULT 0 NOT NULL,
	failures BIGINT DEFAULT 0 NOT NULL,
	codes TEXT DEFAULT '{}' NOT NULL,
	recent_requests DOUBLE DEFAULT 0 NOT NULL,
	recent_failures DOUBLE DEFAULT 0 NOT NULL,
	usual_ms DOUBLE,
	slots DOUBLE,
	slots_limit INTEGER,
	keeps_delay DOUBLE,
	last_ok_at DOUBLE,
	last_failed_at DOUBLE,
	seen_at DOUBLE,
	evidence TEXT DEFAULT '{}' NOT NULL,
	learned VARCHAR(16),
	learned_at DOUBLE,
	parts INTEGER,
	PRIMARY KEY (host)
);

CREATE INDEX sites_in_parts ON sites (host) WHERE parts > 1;

CREATE INDEX sites_paused ON sites (host) WHERE paused = 1;

CREATE TABLE stands (
	run_id VARCHAR(36) NOT NULL,
	lane VARCHAR(255) NOT NULL,
	ready_at DOUBLE,
	PRIMARY KEY (run_id, lane)
);

CREATE INDEX stands_of_lane ON stands (lane, run_id);

CREATE TABLE tokens (
	id VARCHAR(36) NOT NULL,
	name TEXT,
	scope VARCHAR(8) NOT NULL,
	digest VARCHAR(64) NOT NULL,
	created_at DOUBLE NOT NULL,
	revoked_at DOUBLE,
	PRIMARY KEY (id)
);

CREATE TABLE wakes (
	task_id VARCHAR(64) NOT NULL,
	worker_id VARCHAR(36) NOT NULL,
	run_id VARCHAR(36) NOT NULL,
	woken_at DOUBLE NOT NULL,
	PRIMARY KEY (task_id, worker_id, run_id)
)
 WITHOUT ROWID;

CREATE INDEX wakes_by_age ON wakes (woken_at);

CREATE INDEX wakes_of_run ON wakes (run_id, woken_at);

CREATE TABLE workers (
	id VARCHAR(36) NOT NULL,
	serves VARCHAR(36),
	host VARCHAR(255) NOT NULL,
	pid BIGINT NOT NULL,
	version VARCHAR(32) NOT NULL,
	started_at DOUBLE NOT NULL,
	beat BIGINT DEFAULT 0 NOT NULL,
	beat_at DOUBLE NOT NULL,
	hungry INTEGER DEFAULT 0 NOT NULL,
	dead_at DOUBLE,
	work BIGINT DEFAULT 0 NOT NULL,
	progress BIGINT DEFAULT 0 NOT NULL,
	in_flight BIGINT DEFAULT 0 NOT NULL,
	patience DOUBLE DEFAULT 0 NOT NULL,
	node VARCHAR(255),
	has TEXT DEFAULT '[]' NOT NULL,
	lanes BIGINT DEFAULT 0 NOT NULL,
	memory BIGINT DEFAULT 0 NOT NULL,
	rate DOUBLE DEFAULT 0 NOT NULL,
	progress_at DOUBLE,
	PRIMARY KEY (id)
);

CREATE INDEX workers_alive ON workers (id) WHERE dead_at IS NULL;

CREATE TABLE workflow_events (
	workflow_id VARCHAR(36) NOT NULL,
	sequence BIGINT NOT NULL,
	level VARCHAR(8) NOT NULL,
	message TEXT NOT NULL,
	meta TEXT NOT NULL,
	created_at DOUBLE NOT NULL,
	PRIMARY KEY (workflow_id, sequence)
);

CREATE TABLE workflow_states (
	id VARCHAR(36) NOT NULL,
	job_id VARCHAR(36),
	name TEXT NOT NULL,
	template VARCHAR(100),
	version INTEGER,
	status VARCHAR(20) NOT NULL,
	current_step INTEGER DEFAULT 0 NOT NULL,
	total_steps INTEGER NOT NULL,
	progress INTEGER DEFAULT 0 NOT NULL,
	metadata TEXT DEFAULT '{}' NOT NULL,
	definition TEXT NOT NULL,
	error_message TEXT,
	reason TEXT,
	is_local INTEGER DEFAULT 0 NOT NULL,
	keeper VARCHAR(36),
	recovery_attempts INTEGER DEFAULT 0 NOT NULL,
	max_recovery_attempts INTEGER DEFAULT 3 NOT NULL,
	last_event BIGINT DEFAULT 0 NOT NULL,
	started_at DOUBLE,
	completed_at DOUBLE,
	last_checkpoint DOUBLE,
	created_at DOUBLE NOT NULL,
	updated_at DOUBLE NOT NULL,
	PRIMARY KEY (id)
);

CREATE INDEX workflow_states_by_age ON workflow_states (created_at, id);

CREATE INDEX workflow_states_by_keeper ON workflow_states (keeper) WHERE keeper IS NOT NULL;

CREATE INDEX workflow_states_by_status ON workflow_states (status, created_at, id);

CREATE INDEX workflow_states_of_job ON workflow_states (job_id, created_at, id) WHERE job_id IS NOT NULL;

CREATE TABLE workflow_step_sums (
	task_type VARCHAR(50) NOT NULL,
	status VARCHAR(20) NOT NULL,
	steps BIGINT DEFAULT 0 NOT NULL,
	seconds DOUBLE NOT NULL,
	PRIMARY KEY (task_type, status)
);

CREATE TABLE workflow_tasks (
	id VARCHAR(36) NOT NULL,
	workflow_id VARCHAR(36) NOT NULL,
	task_name VARCHAR(100) NOT NULL,
	task_type VARCHAR(50) NOT NULL,
	status VARCHAR(20) NOT NULL,
	step_index INTEGER NOT NULL,
	kind VARCHAR(8) NOT NULL,
	celery_task_id VARCHAR(255),
	retry_count INTEGER DEFAULT 0 NOT NULL,
	max_retries INTEGER DEFAULT 3 NOT NULL,
	dependencies TEXT DEFAULT '[]' NOT NULL,
	result TEXT DEFAULT '{}' NOT NULL,
	error_message TEXT,
	next_at DOUBLE,
	owner VARCHAR(36),
	tries INTEGER DEFAULT 0 NOT NULL,
	deaths INTEGER DEFAULT 0 NOT NULL,
	run_id VARCHAR(36),
	deadline_at DOUBLE,
	started_at DOUBLE,
	completed_at DOUBLE,
	estimated_duration DOUBLE,
	actual_duration DOUBLE,
	created_at DOUBLE NOT NULL,
	updated_at DOUBLE NOT NULL,
	PRIMARY KEY (id)
);

CREATE INDEX workflow_tasks_by_celery_id ON workflow_tasks (celery_task_id) WHERE celery_task_id IS NOT NULL;

CREATE INDEX workflow_tasks_by_run ON workflow_tasks (run_id) WHERE run_id IS NOT NULL;

CREATE INDEX workflow_tasks_by_status ON workflow_tasks (workflow_id, status);

CREATE UNIQUE INDEX workflow_tasks_in_order ON workflow_tasks (workflow_id, step_index);

CREATE INDEX workflow_tasks_under_way ON workflow_tasks (status, next_at) WHERE status IN ('queued', 'retrying', 'running');

CREATE TABLE workflow_templates (
	name VARCHAR(100) NOT NULL,
	version INTEGER DEFAULT 1 NOT NULL,
	definition TEXT NOT NULL,
	created_at DOUBLE NOT NULL,
	updated_at DOUBLE NOT NULL,
	PRIMARY KEY (name)
);

