-- expand: the first schema. Every table carries its tenant; constraints carry the invariants.
-- Ids are UUIDv7 made by the caller. Hot tables (queue, leases, executions) have no foreign keys: the
-- statements that fill them read the parent rows themselves, and a key check a row would halve their speed.

CREATE TABLE tenants (
    id             uuid        PRIMARY KEY,
    name           text        NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 255),
    weight         integer     NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 1000),
    max_concurrent integer     CHECK (max_concurrent >= 1),
    created_at     timestamptz NOT NULL
);
INSERT INTO tenants (id, name, created_at)
VALUES ('00000000-0000-7000-8000-000000000000', 'default', '1970-01-01T00:00:00Z');

CREATE TABLE users (
    id            uuid        PRIMARY KEY,
    tenant_id     uuid        NOT NULL REFERENCES tenants (id),
    email         text        NOT NULL CHECK (length(email) BETWEEN 3 AND 320),
    password_hash text        NOT NULL,
    roles         jsonb       NOT NULL DEFAULT '[]',
    token_version integer     NOT NULL DEFAULT 1 CHECK (token_version >= 1),
    disabled_at   timestamptz,
    created_at    timestamptz NOT NULL,
    UNIQUE (tenant_id, email)
);

CREATE TABLE api_keys (
    id           uuid        PRIMARY KEY,
    tenant_id    uuid        NOT NULL REFERENCES tenants (id),
    name         text        NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    secret_hash  text        NOT NULL,
    scopes       jsonb       NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz,
    revoked_at   timestamptz,
    last_used_at timestamptz
);
CREATE INDEX api_keys_tenant ON api_keys (tenant_id, id);

CREATE TABLE secrets (
    tenant_id  uuid        NOT NULL REFERENCES tenants (id),
    name       text        NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    version    integer     NOT NULL CHECK (version >= 1),
    ciphertext bytea       NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, name, version)
);

CREATE TABLE calendars (
    tenant_id  uuid        NOT NULL REFERENCES tenants (id),
    name       text        NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    dates      jsonb       NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, name)
);

-- Who may run what, as a small integer: the claim index starts with it. Lanes only grow in number.
CREATE TABLE lanes (
    id           integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id    uuid    NOT NULL REFERENCES tenants (id),
    queue        text    NOT NULL CHECK (length(queue) BETWEEN 1 AND 255),
    kind         text    NOT NULL CHECK (length(kind) BETWEEN 1 AND 255),
    capabilities text    NOT NULL, -- A sorted JSON list: equal sets are equal texts.
    UNIQUE (tenant_id, queue, kind, capabilities)
);

CREATE TABLE jobs (
    id            uuid        PRIMARY KEY,
    tenant_id     uuid        NOT NULL REFERENCES tenants (id),
    name          text        NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    status        text        NOT NULL
                  CHECK (status IN ('ACTIVE', 'PAUSED', 'COMPLETED', 'CANCELLED', 'DELETED')),
    version       integer     NOT NULL CHECK (version >= 1),
    revision      integer     NOT NULL CHECK (revision >= 1),
    shard         smallint    NOT NULL CHECK (shard BETWEEN 0 AND 63),
    next_run_time timestamptz,
    last_run_time timestamptz,
    fires         integer     NOT NULL DEFAULT 0 CHECK (fires >= 0),
    anchor        timestamptz,
    tags          text        NOT NULL DEFAULT '[]', -- Sorted JSON lists, to be read with the row;
    dependencies  text        NOT NULL DEFAULT '[]', -- job_tags and job_dependencies find by them.
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    CHECK (next_run_time IS NULL OR status IN ('ACTIVE', 'PAUSED'))
) WITH (fillfactor = 85);
CREATE UNIQUE INDEX jobs_live_name ON jobs (tenant_id, name) WHERE status <> 'DELETED';
CREATE INDEX jobs_due ON jobs (next_run_time, id) WHERE next_run_time IS NOT NULL;
CREATE INDEX jobs_tenant ON jobs (tenant_id, id);

CREATE TABLE job_revisions (
    job_id          uuid             NOT NULL REFERENCES jobs (id),
    revision        integer          NOT NULL CHECK (revision >= 1),
    tenant_id       uuid             NOT NULL REFERENCES tenants (id),
    lane_id         integer          NOT NULL REFERENCES lanes (id),
    kind            text             NOT NULL,
    queue           text             NOT NULL,
    capabilities    text             NOT NULL,
    priority        smallint         NOT NULL CHECK (priority BETWEEN 0 AND 9),
    timeout_seconds double precision CHECK (timeout_seconds > 0),
    max_concurrent  integer          CHECK (max_concurrent >= 1),
    delivery        text             NOT NULL CHECK (delivery IN ('at_least_once', 'at_most_once')),
    payload         json             NOT NULL,
    retry           jsonb            NOT NULL,
    schedule        jsonb            NOT NULL,
    created_at      timestamptz      NOT NULL,
    PRIMARY KEY (job_id, revision)
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% rows are immutable', TG_TABLE_NAME;
END $$;
CREATE TRIGGER job_revisions_are_immutable BEFORE UPDATE ON job_revisions
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TABLE job_tags (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    job_id    uuid NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    tag       text NOT NULL CHECK (length(tag) BETWEEN 1 AND 255),
    PRIMARY KEY (job_id, tag)
);
CREATE INDEX job_tags_tag ON job_tags (tenant_id, tag, job_id);

CREATE TABLE job_dependencies (
    tenant_id  uuid NOT NULL REFERENCES tenants (id),
    job_id     uuid NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    depends_on uuid NOT NULL REFERENCES jobs (id),
    PRIMARY KEY (job_id, depends_on),
    CHECK (job_id <> depends_on)
);
CREATE INDEX job_dependencies_depends_on ON job_dependencies (depends_on, job_id);

-- The ledger: one row for each fired nominal time, one for each run of skipped ones with one reason.
CREATE TABLE occurrences (
    tenant_id     uuid        NOT NULL,
    job_id        uuid        NOT NULL,
    nominal_time  timestamptz NOT NULL,
    nominal_until timestamptz NOT NULL,
    count         integer     NOT NULL CHECK (count >= 1),
    reason        text,
    execution_id  uuid,
    due           timestamptz,
    recorded_at   timestamptz NOT NULL,
    PRIMARY KEY (job_id, nominal_time),
    CHECK (nominal_time <= nominal_until),
    CHECK ((reason IS NULL) = (execution_id IS NOT NULL)),
    CHECK ((reason IS NULL) = (due IS NOT NULL)),
    CHECK (reason IS NOT NULL OR (count = 1 AND nominal_time = nominal_until))
);

-- What a run is: written once, never changed. Where its id is tells its status: in `queue` it waits, in
-- `leases` it runs, in `endings` it has ended.
CREATE TABLE executions (
    id           uuid        PRIMARY KEY,
    tenant_id    uuid        NOT NULL,
    job_id       uuid        NOT NULL,
    revision     integer     NOT NULL,
    trigger      text        NOT NULL CHECK (trigger IN ('schedule', 'manual', 'redrive', 'dag')),
    priority     smallint    NOT NULL CHECK (priority BETWEEN 0 AND 9),
    nominal_time timestamptz,
    due          timestamptz NOT NULL,
    created_at   timestamptz NOT NULL,
    unique_key   text,
    input        json
) PARTITION BY RANGE (id);
CREATE TABLE executions_default PARTITION OF executions DEFAULT;
CREATE INDEX executions_job ON executions (job_id, id);
CREATE INDEX executions_tenant ON executions (tenant_id, id);

-- How a run ended, and its last attempt: written once, never changed.
CREATE TABLE endings (
    execution_id    uuid        PRIMARY KEY,
    tenant_id       uuid        NOT NULL,
    outcome         text        NOT NULL
                    CHECK (outcome IN ('COMPLETED', 'FAILED', 'TIMEOUT', 'CANCELLED', 'SKIPPED')),
    last_attempt    text, -- NULL: it ended while it waited.
    claim           integer     NOT NULL CHECK (claim >= 0),
    attempts        integer     NOT NULL CHECK (attempts BETWEEN 0 AND claim),
    due             timestamptz NOT NULL,
    worker          text,
    started_at      timestamptz,
    finished_at     timestamptz NOT NULL,
    result          json,
    failure_kind    text,
    failure_message text,
    CHECK ((last_attempt IS NULL) = (worker IS NULL)),
    CHECK ((last_attempt IS NULL) = (started_at IS NULL)),
    CHECK ((failure_kind IS NULL) = (failure_message IS NULL))
) PARTITION BY RANGE (execution_id);
CREATE TABLE endings_default PARTITION OF endings DEFAULT;
-- Success is what nearly every row holds; the others are looked for.
CREATE INDEX endings_unlucky ON endings (tenant_id, outcome, execution_id) WHERE outcome <> 'COMPLETED';

-- Attempts that did not end their execution. The last attempt is in `endings`.
CREATE TABLE attempts (
    execution_id    uuid        NOT NULL,
    claim           integer     NOT NULL CHECK (claim >= 1),
    tenant_id       uuid        NOT NULL,
    worker          text        NOT NULL,
    outcome         text        NOT NULL,
    failure_kind    text,
    failure_message text,
    started_at      timestamptz NOT NULL,
    finished_at     timestamptz NOT NULL,
    PRIMARY KEY (execution_id, claim),
    CHECK ((failure_kind IS NULL) = (failure_message IS NULL))
) PARTITION BY RANGE (execution_id);
CREATE TABLE attempts_default PARTITION OF attempts DEFAULT;

-- Waiting work only: a row leaves when it is claimed. `waits_for` says what holds it besides its time.
CREATE TABLE queue (
    execution_id uuid        PRIMARY KEY,
    tenant_id    uuid        NOT NULL,
    job_id       uuid        NOT NULL,
    revision     integer     NOT NULL,
    lane_id      integer     NOT NULL,
    priority     smallint    NOT NULL CHECK (priority BETWEEN 0 AND 9),
    due          timestamptz NOT NULL,
    nominal_time timestamptz,
    claim        integer     NOT NULL DEFAULT 0 CHECK (claim >= 0),
    attempts     integer     NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND claim),
    crashes      integer     NOT NULL DEFAULT 0 CHECK (crashes BETWEEN 0 AND claim),
    waits_for    text        CHECK (waits_for IN ('slot', 'jobs', 'tasks', 'event', 'approval'))
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX queue_claimable ON queue (lane_id, priority, due, execution_id) WHERE waits_for IS NULL;

-- Running work only. `claim` is the fence; it came with the queue row and goes back with it, plus one.
CREATE TABLE leases (
    execution_id     uuid        PRIMARY KEY,
    tenant_id        uuid        NOT NULL,
    job_id           uuid        NOT NULL,
    revision         integer     NOT NULL,
    lane_id          integer     NOT NULL,
    priority         smallint    NOT NULL,
    due              timestamptz NOT NULL,
    nominal_time     timestamptz,
    claim            integer     NOT NULL CHECK (claim >= 1),
    attempts         integer     NOT NULL CHECK (attempts BETWEEN 0 AND claim),
    crashes          integer     NOT NULL CHECK (crashes BETWEEN 0 AND claim),
    worker           text        NOT NULL,
    started_at       timestamptz NOT NULL,
    lease_until      timestamptz NOT NULL,
    cancel_requested boolean     NOT NULL DEFAULT false,
    request_id       uuid        NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX leases_until ON leases (lease_until);

-- Claims that got something. The key makes a request claim once, also when it is sent twice at the same time:
-- the second one fails on it and reads what the first one got. A row a claim, not a key a lease, so a batch
-- pays once. Kept for a while, then forgotten.
CREATE TABLE claim_requests (
    request_id uuid        PRIMARY KEY,
    tenant_id  uuid        NOT NULL,
    worker     text        NOT NULL,
    claimed_at timestamptz NOT NULL
);
CREATE INDEX claim_requests_age ON claim_requests (claimed_at);

-- Keys of live executions only: a key is free again when its execution ends.
CREATE TABLE unique_keys (
    tenant_id    uuid NOT NULL,
    job_id       uuid NOT NULL,
    unique_key   text NOT NULL,
    execution_id uuid NOT NULL UNIQUE,
    PRIMARY KEY (tenant_id, job_id, unique_key)
);

CREATE TABLE checkpoints (
    execution_id uuid             PRIMARY KEY,
    tenant_id    uuid             NOT NULL,
    claim        integer          NOT NULL CHECK (claim >= 1),
    state        json             NOT NULL,
    progress     double precision CHECK (progress BETWEEN 0 AND 1),
    saved_at     timestamptz      NOT NULL
);

CREATE TABLE run_logs (
    execution_id uuid        NOT NULL,
    claim        integer     NOT NULL CHECK (claim >= 1),
    number       integer     NOT NULL CHECK (number >= 1),
    tenant_id    uuid        NOT NULL,
    at           timestamptz NOT NULL,
    level        text        NOT NULL CHECK (level IN ('DEBUG', 'INFO', 'WARNING', 'ERROR')),
    message      text        NOT NULL,
    context      json,
    PRIMARY KEY (execution_id, claim, number)
) PARTITION BY RANGE (execution_id);
CREATE TABLE run_logs_default PARTITION OF run_logs DEFAULT;

CREATE TABLE dead_letters (
    execution_id    uuid        PRIMARY KEY,
    tenant_id       uuid        NOT NULL,
    job_id          uuid        NOT NULL,
    reason          text        NOT NULL CHECK (reason IN ('exhausted', 'permanent', 'crash_loop', 'abandoned')),
    failure_kind    text,
    failure_message text,
    attempts        integer     NOT NULL,
    died_at         timestamptz NOT NULL,
    redriven_as     uuid,
    redriven_at     timestamptz,
    CHECK ((redriven_as IS NULL) = (redriven_at IS NULL))
);
CREATE INDEX dead_letters_tenant ON dead_letters (tenant_id, execution_id);
CREATE INDEX dead_letters_job ON dead_letters (job_id, execution_id);

CREATE TABLE workers (
    id            text        PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 255),
    tenant_id     uuid        NOT NULL REFERENCES tenants (id),
    boot          uuid        NOT NULL,
    hostname      text        NOT NULL,
    slots         integer     NOT NULL CHECK (slots >= 1),
    kinds         text        NOT NULL,
    queues        text        NOT NULL,
    capabilities  text        NOT NULL,
    status        text        NOT NULL CHECK (status IN ('ACTIVE', 'DRAINING', 'GONE')),
    registered_at timestamptz NOT NULL,
    last_seen_at  timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE shards (
    shard      smallint    PRIMARY KEY CHECK (shard BETWEEN 0 AND 63),
    tenant_id  uuid        NOT NULL REFERENCES tenants (id),
    owner      text        NOT NULL,
    term       bigint      NOT NULL CHECK (term >= 1),
    expires_at timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE leaders (
    name       text        PRIMARY KEY,
    tenant_id  uuid        NOT NULL REFERENCES tenants (id),
    owner      text        NOT NULL,
    term       bigint      NOT NULL CHECK (term >= 1),
    expires_at timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE dags (
    id            uuid        PRIMARY KEY,
    tenant_id     uuid        NOT NULL REFERENCES tenants (id),
    job_id        uuid        NOT NULL UNIQUE REFERENCES jobs (id), -- Its schedule, status and version.
    created_at    timestamptz NOT NULL
);

CREATE TABLE dag_revisions (
    dag_id                   uuid        NOT NULL REFERENCES dags (id),
    revision                 integer     NOT NULL CHECK (revision >= 1),
    tenant_id                uuid        NOT NULL REFERENCES tenants (id),
    failure_strategy         text        NOT NULL
                             CHECK (failure_strategy IN ('FAIL_FAST', 'FAIL_DOWNSTREAM', 'CONTINUE', 'PAUSE')),
    allow_partial_completion boolean     NOT NULL,
    config                   jsonb       NOT NULL,
    created_at               timestamptz NOT NULL,
    PRIMARY KEY (dag_id, revision)
);
CREATE TRIGGER dag_revisions_are_immutable BEFORE UPDATE ON dag_revisions
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TABLE dag_tasks (
    dag_id          uuid             NOT NULL,
    revision        integer          NOT NULL,
    task            integer          NOT NULL CHECK (task >= 0), -- Its place in the definition.
    tenant_id       uuid             NOT NULL REFERENCES tenants (id),
    name            text             NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    trigger_rule    text             NOT NULL CHECK (trigger_rule IN
                    ('all_success', 'all_done', 'one_success', 'one_failed', 'none_failed')),
    kind            text             NOT NULL,
    payload         json             NOT NULL,
    retry           jsonb            NOT NULL,
    timeout_seconds double precision CHECK (timeout_seconds > 0),
    priority        smallint         NOT NULL CHECK (priority BETWEEN 0 AND 9),
    PRIMARY KEY (dag_id, revision, task),
    UNIQUE (dag_id, revision, name),
    FOREIGN KEY (dag_id, revision) REFERENCES dag_revisions (dag_id, revision)
);

CREATE TABLE task_dependencies (
    dag_id     uuid    NOT NULL,
    revision   integer NOT NULL,
    task       integer NOT NULL,
    depends_on integer NOT NULL,
    tenant_id  uuid    NOT NULL REFERENCES tenants (id),
    PRIMARY KEY (dag_id, revision, task, depends_on),
    FOREIGN KEY (dag_id, revision, task) REFERENCES dag_tasks (dag_id, revision, task),
    FOREIGN KEY (dag_id, revision, depends_on) REFERENCES dag_tasks (dag_id, revision, task),
    CHECK (task <> depends_on)
);
CREATE INDEX task_dependencies_depends_on ON task_dependencies (dag_id, revision, depends_on, task);

CREATE TABLE dag_runs (
    id           uuid        PRIMARY KEY,
    tenant_id    uuid        NOT NULL REFERENCES tenants (id),
    dag_id       uuid        NOT NULL,
    revision     integer     NOT NULL,
    status       text        NOT NULL
                 CHECK (status IN ('PENDING', 'RUNNING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED')),
    nominal_time timestamptz,
    config       jsonb,
    created_at   timestamptz NOT NULL,
    started_at   timestamptz,
    finished_at  timestamptz,
    FOREIGN KEY (dag_id, revision) REFERENCES dag_revisions (dag_id, revision)
);
CREATE INDEX dag_runs_dag ON dag_runs (dag_id, id);

CREATE TABLE task_instances (
    execution_id uuid    PRIMARY KEY, -- A task instance is an execution.
    tenant_id    uuid    NOT NULL,
    dag_run_id   uuid    NOT NULL REFERENCES dag_runs (id),
    task         integer NOT NULL,
    waiting_for  integer NOT NULL CHECK (waiting_for >= 0),
    UNIQUE (dag_run_id, task)
);

CREATE TABLE notifications (
    id         uuid        PRIMARY KEY,
    tenant_id  uuid        NOT NULL REFERENCES tenants (id),
    job_id     uuid,
    channel    text        NOT NULL CHECK (channel IN ('email', 'webhook')),
    target     text        NOT NULL,
    template   text        NOT NULL,
    payload    json,
    created_at timestamptz NOT NULL,
    sent_at    timestamptz
);

CREATE TABLE outbox (
    id         uuid        PRIMARY KEY,
    tenant_id  uuid        NOT NULL,
    type       text        NOT NULL,
    subject    text        NOT NULL,
    data       jsonb       NOT NULL,
    created_at timestamptz NOT NULL
);

CREATE TABLE audit_events (
    id          uuid        PRIMARY KEY,
    tenant_id   uuid        NOT NULL,
    actor       text        NOT NULL,
    action      text        NOT NULL,
    entity_type text        NOT NULL,
    entity_id   text        NOT NULL,
    request_id  text,
    details     jsonb,
    created_at  timestamptz NOT NULL
);
CREATE INDEX audit_events_tenant ON audit_events (tenant_id, id);

CREATE TABLE idempotency_keys (
    tenant_id   uuid        NOT NULL,
    key         text        NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    fingerprint text        NOT NULL,
    answer      jsonb       NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, key)
);
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
