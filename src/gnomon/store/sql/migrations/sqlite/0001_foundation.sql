-- expand: the first schema. Every table carries its tenant; constraints carry the invariants.
-- Ids are UUIDv7 made by the caller. Hot tables (queue, leases, executions) have no foreign keys: the
-- statements that fill them read the parent rows themselves, and a key check a row would halve their speed.

CREATE TABLE tenants (
    id             BLOB    NOT NULL PRIMARY KEY,
    name           TEXT    NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 255),
    weight         INTEGER NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 1000),
    max_concurrent INTEGER CHECK (max_concurrent >= 1),
    created_at     INTEGER NOT NULL
) STRICT;
INSERT INTO tenants (id, name, created_at)
VALUES (x'00000000000070008000000000000000', 'default', 0);

CREATE TABLE users (
    id            BLOB    NOT NULL PRIMARY KEY,
    tenant_id     BLOB    NOT NULL REFERENCES tenants (id),
    email         TEXT    NOT NULL CHECK (length(email) BETWEEN 3 AND 320),
    password_hash TEXT    NOT NULL,
    roles         TEXT    NOT NULL DEFAULT '[]',
    token_version INTEGER NOT NULL DEFAULT 1 CHECK (token_version >= 1),
    disabled_at   INTEGER,
    created_at    INTEGER NOT NULL,
    UNIQUE (tenant_id, email)
) STRICT;

CREATE TABLE api_keys (
    id           BLOB    NOT NULL PRIMARY KEY,
    tenant_id    BLOB    NOT NULL REFERENCES tenants (id),
    name         TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    secret_hash  TEXT    NOT NULL,
    scopes       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER
) STRICT;
CREATE INDEX api_keys_tenant ON api_keys (tenant_id, id);

CREATE TABLE secrets (
    tenant_id  BLOB    NOT NULL REFERENCES tenants (id),
    name       TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    version    INTEGER NOT NULL CHECK (version >= 1),
    ciphertext BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, name, version)
) STRICT;

CREATE TABLE calendars (
    tenant_id  BLOB    NOT NULL REFERENCES tenants (id),
    name       TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    dates      TEXT    NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, name)
) STRICT;

-- Who may run what, as a small integer: the claim index starts with it. Lanes only grow in number.
CREATE TABLE lanes (
    id           INTEGER PRIMARY KEY,
    tenant_id    BLOB    NOT NULL REFERENCES tenants (id),
    queue        TEXT    NOT NULL CHECK (length(queue) BETWEEN 1 AND 255),
    kind         TEXT    NOT NULL CHECK (length(kind) BETWEEN 1 AND 255),
    capabilities TEXT    NOT NULL, -- A sorted JSON list: equal sets are equal texts.
    UNIQUE (tenant_id, queue, kind, capabilities)
) STRICT;

CREATE TABLE jobs (
    id            BLOB    NOT NULL PRIMARY KEY,
    tenant_id     BLOB    NOT NULL REFERENCES tenants (id),
    name          TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    status        TEXT    NOT NULL
                  CHECK (status IN ('ACTIVE', 'PAUSED', 'COMPLETED', 'CANCELLED', 'DELETED')),
    version       INTEGER NOT NULL CHECK (version >= 1),
    revision      INTEGER NOT NULL CHECK (revision >= 1),
    shard         INTEGER NOT NULL CHECK (shard BETWEEN 0 AND 63),
    next_run_time INTEGER,
    last_run_time INTEGER,
    fires         INTEGER NOT NULL DEFAULT 0 CHECK (fires >= 0),
    anchor        INTEGER,
    tags          TEXT    NOT NULL DEFAULT '[]', -- Sorted JSON lists, to be read with the row;
    dependencies  TEXT    NOT NULL DEFAULT '[]', -- job_tags and job_dependencies find by them.
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    CHECK (next_run_time IS NULL OR status IN ('ACTIVE', 'PAUSED'))
) STRICT;
CREATE UNIQUE INDEX jobs_live_name ON jobs (tenant_id, name) WHERE status <> 'DELETED';
CREATE INDEX jobs_due ON jobs (next_run_time, id) WHERE next_run_time IS NOT NULL;
CREATE INDEX jobs_tenant ON jobs (tenant_id, id);

CREATE TABLE job_revisions (
    job_id          BLOB    NOT NULL REFERENCES jobs (id),
    revision        INTEGER NOT NULL CHECK (revision >= 1),
    tenant_id       BLOB    NOT NULL REFERENCES tenants (id),
    lane_id         INTEGER NOT NULL REFERENCES lanes (id),
    kind            TEXT    NOT NULL,
    queue           TEXT    NOT NULL,
    capabilities    TEXT    NOT NULL,
    priority        INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 9),
    timeout_seconds REAL    CHECK (timeout_seconds > 0),
    max_concurrent  INTEGER CHECK (max_concurrent >= 1),
    delivery        TEXT    NOT NULL CHECK (delivery IN ('at_least_once', 'at_most_once')),
    payload         TEXT    NOT NULL,
    retry           TEXT    NOT NULL,
    schedule        TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (job_id, revision)
) STRICT;

CREATE TRIGGER job_revisions_are_immutable BEFORE UPDATE ON job_revisions
BEGIN
    SELECT RAISE(ABORT, 'job_revisions rows are immutable');
END;

CREATE TABLE job_tags (
    tenant_id BLOB NOT NULL REFERENCES tenants (id),
    job_id    BLOB NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    tag       TEXT NOT NULL CHECK (length(tag) BETWEEN 1 AND 255),
    PRIMARY KEY (job_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_tags_tag ON job_tags (tenant_id, tag, job_id);

CREATE TABLE job_dependencies (
    tenant_id  BLOB NOT NULL REFERENCES tenants (id),
    job_id     BLOB NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    depends_on BLOB NOT NULL REFERENCES jobs (id),
    PRIMARY KEY (job_id, depends_on),
    CHECK (job_id <> depends_on)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_dependencies_depends_on ON job_dependencies (depends_on, job_id);

-- The ledger: one row for each fired nominal time, one for each run of skipped ones with one reason.
CREATE TABLE occurrences (
    tenant_id     BLOB    NOT NULL,
    job_id        BLOB    NOT NULL,
    nominal_time  INTEGER NOT NULL,
    nominal_until INTEGER NOT NULL,
    count         INTEGER NOT NULL CHECK (count >= 1),
    reason        TEXT,
    execution_id  BLOB,
    due           INTEGER,
    recorded_at   INTEGER NOT NULL,
    PRIMARY KEY (job_id, nominal_time),
    CHECK (nominal_time <= nominal_until),
    CHECK ((reason IS NULL) = (execution_id IS NOT NULL)),
    CHECK ((reason IS NULL) = (due IS NOT NULL)),
    CHECK (reason IS NOT NULL OR (count = 1 AND nominal_time = nominal_until))
) STRICT;

-- What a run is: written once, never changed. Where its id is tells its status: in `queue` it waits, in
-- `leases` it runs, in `endings` it has ended.
CREATE TABLE executions (
    id           BLOB    NOT NULL PRIMARY KEY,
    tenant_id    BLOB    NOT NULL,
    job_id       BLOB    NOT NULL,
    revision     INTEGER NOT NULL,
    trigger      TEXT    NOT NULL CHECK (trigger IN ('schedule', 'manual', 'redrive', 'dag')),
    priority     INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 9),
    nominal_time INTEGER,
    due          INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    unique_key   TEXT,
    input        TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX executions_job ON executions (job_id, id);
CREATE INDEX executions_tenant ON executions (tenant_id, id);

-- How a run ended, and its last attempt: written once, never changed.
CREATE TABLE endings (
    execution_id    BLOB    NOT NULL PRIMARY KEY,
    tenant_id       BLOB    NOT NULL,
    outcome         TEXT    NOT NULL
                    CHECK (outcome = 'COMPLETED' OR outcome IN ('FAILED', 'TIMEOUT', 'CANCELLED', 'SKIPPED')),
    last_attempt    TEXT, -- NULL: it ended while it waited.
    claim           INTEGER NOT NULL CHECK (claim >= 0),
    attempts        INTEGER NOT NULL CHECK (attempts BETWEEN 0 AND claim),
    due             INTEGER NOT NULL,
    worker          TEXT,
    started_at      INTEGER,
    finished_at     INTEGER NOT NULL,
    result          TEXT,
    failure_kind    TEXT,
    failure_message TEXT,
    CHECK ((last_attempt IS NULL) = (worker IS NULL)),
    CHECK ((last_attempt IS NULL) = (started_at IS NULL)),
    CHECK ((failure_kind IS NULL) = (failure_message IS NULL))
) STRICT, WITHOUT ROWID;
-- Success is what nearly every row holds; the others are looked for.
CREATE INDEX endings_unlucky ON endings (tenant_id, outcome, execution_id) WHERE outcome <> 'COMPLETED';

-- Attempts that did not end their execution. The last attempt is in `endings`.
CREATE TABLE attempts (
    execution_id    BLOB    NOT NULL,
    claim           INTEGER NOT NULL CHECK (claim >= 1),
    tenant_id       BLOB    NOT NULL,
    worker          TEXT    NOT NULL,
    outcome         TEXT    NOT NULL,
    failure_kind    TEXT,
    failure_message TEXT,
    started_at      INTEGER NOT NULL,
    finished_at     INTEGER NOT NULL,
    PRIMARY KEY (execution_id, claim),
    CHECK ((failure_kind IS NULL) = (failure_message IS NULL))
) STRICT, WITHOUT ROWID;

-- Waiting work only: a row leaves when it is claimed. `waits_for` says what holds it besides its time.
CREATE TABLE queue (
    execution_id BLOB    NOT NULL PRIMARY KEY,
    tenant_id    BLOB    NOT NULL,
    job_id       BLOB    NOT NULL,
    revision     INTEGER NOT NULL,
    lane_id      INTEGER NOT NULL,
    priority     INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 9),
    due          INTEGER NOT NULL,
    nominal_time INTEGER,
    claim        INTEGER NOT NULL DEFAULT 0 CHECK (claim >= 0),
    attempts     INTEGER NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND claim),
    crashes      INTEGER NOT NULL DEFAULT 0 CHECK (crashes BETWEEN 0 AND claim),
    waits_for    TEXT    CHECK (waits_for IN ('slot', 'jobs', 'tasks', 'event', 'approval'))
) STRICT, WITHOUT ROWID;
CREATE INDEX queue_claimable ON queue (lane_id, priority, due, execution_id) WHERE waits_for IS NULL;

-- Running work only. `claim` is the fence; it came with the queue row and goes back with it, plus one.
CREATE TABLE leases (
    execution_id     BLOB    NOT NULL PRIMARY KEY,
    tenant_id        BLOB    NOT NULL,
    job_id           BLOB    NOT NULL,
    revision         INTEGER NOT NULL,
    lane_id          INTEGER NOT NULL,
    priority         INTEGER NOT NULL,
    due              INTEGER NOT NULL,
    nominal_time     INTEGER,
    claim            INTEGER NOT NULL CHECK (claim >= 1),
    attempts         INTEGER NOT NULL CHECK (attempts BETWEEN 0 AND claim),
    crashes          INTEGER NOT NULL CHECK (crashes BETWEEN 0 AND claim),
    worker           TEXT    NOT NULL,
    started_at       INTEGER NOT NULL,
    lease_until      INTEGER NOT NULL,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    request_id       BLOB    NOT NULL
) STRICT, WITHOUT ROWID;
-- No index on lease_until, unlike PostgreSQL: one process runs little at a time, and reads it all in no time.

-- Claims that got something. The key makes a request claim once, also when it is sent twice at the same time:
-- the second one fails on it and reads what the first one got. A row a claim, not a key a lease, so a batch
-- pays once. Kept for a while, then forgotten.
CREATE TABLE claim_requests (
    request_id BLOB    NOT NULL PRIMARY KEY,
    tenant_id  BLOB    NOT NULL,
    worker     TEXT    NOT NULL,
    claimed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX claim_requests_age ON claim_requests (claimed_at);

-- Keys of live executions only: a key is free again when its execution ends.
CREATE TABLE unique_keys (
    tenant_id    BLOB NOT NULL,
    job_id       BLOB NOT NULL,
    unique_key   TEXT NOT NULL,
    execution_id BLOB NOT NULL UNIQUE,
    PRIMARY KEY (tenant_id, job_id, unique_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoints (
    execution_id BLOB    NOT NULL PRIMARY KEY,
    tenant_id    BLOB    NOT NULL,
    claim        INTEGER NOT NULL CHECK (claim >= 1),
    state        TEXT    NOT NULL,
    progress     REAL    CHECK (progress BETWEEN 0 AND 1),
    saved_at     INTEGER NOT NULL
) STRICT;

CREATE TABLE run_logs (
    execution_id BLOB    NOT NULL,
    claim        INTEGER NOT NULL CHECK (claim >= 1),
    number       INTEGER NOT NULL CHECK (number >= 1),
    tenant_id    BLOB    NOT NULL,
    at           INTEGER NOT NULL,
    level        TEXT    NOT NULL CHECK (level IN ('DEBUG', 'INFO', 'WARNING', 'ERROR')),
    message      TEXT    NOT NULL,
    context      TEXT,
    PRIMARY KEY (execution_id, claim, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_letters (
    execution_id    BLOB    NOT NULL PRIMARY KEY,
    tenant_id       BLOB    NOT NULL,
    job_id          BLOB    NOT NULL,
    reason          TEXT    NOT NULL CHECK (reason IN ('exhausted', 'permanent', 'crash_loop', 'abandoned')),
    failure_kind    TEXT,
    failure_message TEXT,
    attempts        INTEGER NOT NULL,
    died_at         INTEGER NOT NULL,
    redriven_as     BLOB,
    redriven_at     INTEGER,
    CHECK ((redriven_as IS NULL) = (redriven_at IS NULL))
) STRICT;
CREATE INDEX dead_letters_tenant ON dead_letters (tenant_id, execution_id);
CREATE INDEX dead_letters_job ON dead_letters (job_id, execution_id);

CREATE TABLE workers (
    id            TEXT    NOT NULL PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 255),
    tenant_id     BLOB    NOT NULL REFERENCES tenants (id),
    boot          BLOB    NOT NULL,
    hostname      TEXT    NOT NULL,
    slots         INTEGER NOT NULL CHECK (slots >= 1),
    kinds         TEXT    NOT NULL,
    queues        TEXT    NOT NULL,
    capabilities  TEXT    NOT NULL,
    status        TEXT    NOT NULL CHECK (status IN ('ACTIVE', 'DRAINING', 'GONE')),
    registered_at INTEGER NOT NULL,
    last_seen_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE shards (
    shard      INTEGER PRIMARY KEY CHECK (shard BETWEEN 0 AND 63),
    tenant_id  BLOB    NOT NULL REFERENCES tenants (id),
    owner      TEXT    NOT NULL,
    term       INTEGER NOT NULL CHECK (term >= 1),
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE leaders (
    name       TEXT    NOT NULL PRIMARY KEY,
    tenant_id  BLOB    NOT NULL REFERENCES tenants (id),
    owner      TEXT    NOT NULL,
    term       INTEGER NOT NULL CHECK (term >= 1),
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE dags (
    id         BLOB    NOT NULL PRIMARY KEY,
    tenant_id  BLOB    NOT NULL REFERENCES tenants (id),
    job_id     BLOB    NOT NULL UNIQUE REFERENCES jobs (id), -- Its schedule, status and version.
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE dag_revisions (
    dag_id                   BLOB    NOT NULL REFERENCES dags (id),
    revision                 INTEGER NOT NULL CHECK (revision >= 1),
    tenant_id                BLOB    NOT NULL REFERENCES tenants (id),
    failure_strategy         TEXT    NOT NULL
                             CHECK (failure_strategy IN ('FAIL_FAST', 'FAIL_DOWNSTREAM', 'CONTINUE', 'PAUSE')),
    allow_partial_completion INTEGER NOT NULL,
    config                   TEXT    NOT NULL,
    created_at               INTEGER NOT NULL,
    PRIMARY KEY (dag_id, revision)
) STRICT;
CREATE TRIGGER dag_revisions_are_immutable BEFORE UPDATE ON dag_revisions
BEGIN
    SELECT RAISE(ABORT, 'dag_revisions rows are immutable');
END;

CREATE TABLE dag_tasks (
    dag_id          BLOB    NOT NULL,
    revision        INTEGER NOT NULL,
    task            INTEGER NOT NULL CHECK (task >= 0), -- Its place in the definition.
    tenant_id       BLOB    NOT NULL REFERENCES tenants (id),
    name            TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    trigger_rule    TEXT    NOT NULL CHECK (trigger_rule IN
                    ('all_success', 'all_done', 'one_success', 'one_failed', 'none_failed')),
    kind            TEXT    NOT NULL,
    payload         TEXT    NOT NULL,
    retry           TEXT    NOT NULL,
    timeout_seconds REAL    CHECK (timeout_seconds > 0),
    priority        INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 9),
    PRIMARY KEY (dag_id, revision, task),
    UNIQUE (dag_id, revision, name),
    FOREIGN KEY (dag_id, revision) REFERENCES dag_revisions (dag_id, revision)
) STRICT;

CREATE TABLE task_dependencies (
    dag_id     BLOB    NOT NULL,
    revision   INTEGER NOT NULL,
    task       INTEGER NOT NULL,
    depends_on INTEGER NOT NULL,
    tenant_id  BLOB    NOT NULL REFERENCES tenants (id),
    PRIMARY KEY (dag_id, revision, task, depends_on),
    FOREIGN KEY (dag_id, revision, task) REFERENCES dag_tasks (dag_id, revision, task),
    FOREIGN KEY (dag_id, revision, depends_on) REFERENCES dag_tasks (dag_id, revision, task),
    CHECK (task <> depends_on)
) STRICT;
CREATE INDEX task_dependencies_depends_on ON task_dependencies (dag_id, revision, depends_on, task);

CREATE TABLE dag_runs (
    id           BLOB    NOT NULL PRIMARY KEY,
    tenant_id    BLOB    NOT NULL REFERENCES tenants (id),
    dag_id       BLOB    NOT NULL,
    revision     INTEGER NOT NULL,
    status       TEXT    NOT NULL
                 CHECK (status IN ('PENDING', 'RUNNING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED')),
    nominal_time INTEGER,
    config       TEXT,
    created_at   INTEGER NOT NULL,
    started_at   INTEGER,
    finished_at  INTEGER,
    FOREIGN KEY (dag_id, revision) REFERENCES dag_revisions (dag_id, revision)
) STRICT;
CREATE INDEX dag_runs_dag ON dag_runs (dag_id, id);

CREATE TABLE task_instances (
    execution_id BLOB    NOT NULL PRIMARY KEY, -- A task instance is an execution.
    tenant_id    BLOB    NOT NULL,
    dag_run_id   BLOB    NOT NULL REFERENCES dag_runs (id),
    task         INTEGER NOT NULL,
    waiting_for  INTEGER NOT NULL CHECK (waiting_for >= 0),
    UNIQUE (dag_run_id, task)
) STRICT;

CREATE TABLE notifications (
    id         BLOB    NOT NULL PRIMARY KEY,
    tenant_id  BLOB    NOT NULL REFERENCES tenants (id),
    job_id     BLOB,
    channel    TEXT    NOT NULL CHECK (channel IN ('email', 'webhook')),
    target     TEXT    NOT NULL,
    template   TEXT    NOT NULL,
    payload    TEXT,
    created_at INTEGER NOT NULL,
    sent_at    INTEGER
) STRICT;

CREATE TABLE outbox (
    id         BLOB    NOT NULL PRIMARY KEY,
    tenant_id  BLOB    NOT NULL,
    type       TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    data       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE audit_events (
    id          BLOB    NOT NULL PRIMARY KEY,
    tenant_id   BLOB    NOT NULL,
    actor       TEXT    NOT NULL,
    action      TEXT    NOT NULL,
    entity_type TEXT    NOT NULL,
    entity_id   TEXT    NOT NULL,
    request_id  TEXT,
    details     TEXT,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_events_tenant ON audit_events (tenant_id, id);

CREATE TABLE idempotency_keys (
    tenant_id   BLOB    NOT NULL,
    key         TEXT    NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    fingerprint TEXT    NOT NULL,
    answer      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, key)
) STRICT;
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

-- A job with its current revision, as readers see it.
CREATE VIEW current_jobs AS
SELECT jobs.id, jobs.tenant_id, jobs.name, jobs.status, jobs.version, jobs.revision, jobs.shard,
       jobs.next_run_time, jobs.last_run_time, jobs.fires, jobs.anchor, jobs.tags, jobs.dependencies,
       jobs.created_at, jobs.updated_at, job_revisions.lane_id, job_revisions.kind, job_revisions.queue,
       job_revisions.capabilities, job_revisions.priority, job_revisions.timeout_seconds,
       job_revisions.max_concurrent, job_revisions.delivery, job_revisions.payload, job_revisions.retry,
       job_revisions.schedule
FROM jobs
JOIN job_revisions ON job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision;

-- An execution wherever it is: ended, leased or waiting. While it is live, its failure is the last one it met.
CREATE VIEW current_executions AS
SELECT executions.id, executions.tenant_id, executions.job_id, executions.revision, executions.trigger,
       executions.nominal_time, executions.created_at, executions.unique_key, executions.input,
       coalesce(leases.priority, queue.priority, executions.priority) AS priority,
       coalesce(endings.due, leases.due, queue.due) AS due,
       coalesce(endings.claim, leases.claim, queue.claim) AS claim,
       coalesce(endings.attempts, leases.attempts, queue.attempts) AS attempts,
       -- Cancelled while it waited: the last attempt tells who and when.
       CASE WHEN endings.outcome IS NULL OR endings.last_attempt IS NOT NULL
            THEN coalesce(endings.worker, leases.worker) ELSE (
           SELECT attempts.worker FROM attempts WHERE attempts.execution_id = executions.id
           ORDER BY attempts.claim DESC LIMIT 1) END AS worker,
       CASE WHEN endings.outcome IS NULL OR endings.last_attempt IS NOT NULL
            THEN coalesce(endings.started_at, leases.started_at) ELSE (
           SELECT attempts.started_at FROM attempts WHERE attempts.execution_id = executions.id
           ORDER BY attempts.claim DESC LIMIT 1) END AS started_at,
       endings.finished_at, endings.outcome, endings.last_attempt, endings.result,
       leases.execution_id IS NOT NULL AS is_leased,
       queue.execution_id IS NOT NULL AS is_waiting,
       queue.waits_for,
       coalesce(leases.cancel_requested, FALSE) AS cancel_requested,
       CASE WHEN endings.last_attempt IS NOT NULL THEN endings.failure_kind ELSE (
           SELECT attempts.failure_kind FROM attempts WHERE attempts.execution_id = executions.id
           ORDER BY attempts.claim DESC LIMIT 1) END AS failure_kind,
       CASE WHEN endings.last_attempt IS NOT NULL THEN endings.failure_message ELSE (
           SELECT attempts.failure_message FROM attempts WHERE attempts.execution_id = executions.id
           ORDER BY attempts.claim DESC LIMIT 1) END AS failure_message
FROM executions
LEFT JOIN endings ON endings.execution_id = executions.id
LEFT JOIN leases ON leases.execution_id = executions.id
LEFT JOIN queue ON queue.execution_id = executions.id;
