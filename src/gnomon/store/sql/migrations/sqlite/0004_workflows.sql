-- expand: workflows. A DAG is a job; a run of it is an execution of that job; a task of a run is an execution too.

-- Drafts that no release has read or written.
DROP TABLE task_instances;
DROP TABLE dag_runs;
DROP TABLE task_dependencies;
DROP TABLE dag_tasks;
DROP TABLE dag_revisions;
DROP TABLE dags;

-- The tasks of a DAG are revisions of its job: what a claim needs to know is where it looks anyway.
ALTER TABLE job_revisions ADD COLUMN is_task INTEGER NOT NULL DEFAULT 0;

-- Which task of which run an execution is for, in which round, and for which item of a fan-out.
ALTER TABLE executions ADD COLUMN dag_run_id BLOB;
ALTER TABLE executions ADD COLUMN task INTEGER;
ALTER TABLE executions ADD COLUMN round INTEGER;
ALTER TABLE executions ADD COLUMN item INTEGER;
CREATE INDEX executions_run ON executions (dag_run_id, task, round, item) WHERE dag_run_id IS NOT NULL;

-- The flag travels with the execution, so that nobody else pays for those that belong to a run.
ALTER TABLE queue ADD COLUMN in_run INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN in_run INTEGER NOT NULL DEFAULT 0;

CREATE TABLE dags (
    id        BLOB    NOT NULL PRIMARY KEY REFERENCES jobs (id), -- Its name, schedule, status and version.
    tenant_id BLOB    NOT NULL REFERENCES tenants (id),
    revision  INTEGER NOT NULL CHECK (revision >= 1)
) STRICT;
CREATE INDEX dags_tenant ON dags (tenant_id, id);

-- `base`: the revision of the job that stands for the whole; its tasks are the `tasks` revisions that follow.
CREATE TABLE dag_revisions (
    dag_id     BLOB    NOT NULL REFERENCES dags (id),
    revision   INTEGER NOT NULL CHECK (revision >= 1),
    tenant_id  BLOB    NOT NULL REFERENCES tenants (id),
    base       INTEGER NOT NULL CHECK (base >= 1),
    tasks      INTEGER NOT NULL CHECK (tasks >= 1),
    definition TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (dag_id, revision),
    UNIQUE (dag_id, base)
) STRICT;
CREATE TRIGGER dag_revisions_are_immutable BEFORE UPDATE ON dag_revisions
BEGIN
    SELECT RAISE(ABORT, 'dag_revisions rows are immutable');
END;

-- A run that has begun. Its row is the lock of all that happens to it. The numbers count its tasks.
CREATE TABLE dag_runs (
    id           BLOB    NOT NULL PRIMARY KEY, -- That of its execution, which waits in `queue` for its tasks.
    tenant_id    BLOB    NOT NULL,
    dag_id       BLOB    NOT NULL,
    base         INTEGER NOT NULL,
    status       TEXT    NOT NULL
                 CHECK (status IN ('PENDING', 'RUNNING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED')),
    unended      INTEGER NOT NULL CHECK (unended >= 0),
    live         INTEGER NOT NULL CHECK (live BETWEEN 0 AND unended),
    halted       INTEGER NOT NULL CHECK (halted BETWEEN 0 AND unended),
    completed    INTEGER NOT NULL CHECK (completed >= 0),
    failed       INTEGER NOT NULL CHECK (failed >= 0),
    cancelled    INTEGER NOT NULL CHECK (cancelled >= 0),
    is_paused    INTEGER NOT NULL,
    ends_as      TEXT    CHECK (ends_as IN ('FAILED', 'CANCELLED')),
    config       TEXT    NOT NULL,
    nesting      INTEGER NOT NULL CHECK (nesting >= 0),
    outer_run_id BLOB, -- The run that this one is a task of.
    outer_task   INTEGER,
    outer_round  INTEGER,
    nominal_time INTEGER,
    priority     INTEGER CHECK (priority BETWEEN 0 AND 9), -- Of its tasks. NULL: as each of them says.
    version      INTEGER NOT NULL DEFAULT 0, -- Grows with every change of the run or of one of its tasks.
    has_tasks    INTEGER NOT NULL DEFAULT 1, -- Not if it could not begin. Then it has ended, for ever.
    started_at   INTEGER NOT NULL,
    finished_at  INTEGER,
    CHECK ((outer_run_id IS NULL) = (outer_task IS NULL)),
    CHECK ((finished_at IS NULL) = (status IN ('PENDING', 'RUNNING', 'PAUSED'))),
    CHECK (has_tasks OR finished_at IS NOT NULL)
) STRICT;
CREATE INDEX dag_runs_dag ON dag_runs (dag_id, id);
CREATE INDEX dag_runs_live ON dag_runs (id) WHERE finished_at IS NULL;
CREATE INDEX dag_runs_inner ON dag_runs (outer_run_id) WHERE outer_run_id IS NOT NULL;

CREATE TABLE task_instances (
    dag_run_id      BLOB    NOT NULL,
    task            INTEGER NOT NULL, -- Its place in the definition.
    tenant_id       BLOB    NOT NULL,
    status          TEXT    NOT NULL CHECK (status IN ('WAITING', 'RELEASED', 'HELD', 'HALTED', 'COMPLETED',
                                                       'FAILED', 'CANCELLED', 'SKIPPED', 'UPSTREAM_FAILED')),
    parents_left    INTEGER NOT NULL CHECK (parents_left >= 0),
    parents_failed  INTEGER NOT NULL CHECK (parents_failed >= 0),
    parents_skipped INTEGER NOT NULL CHECK (parents_skipped >= 0),
    round           INTEGER NOT NULL CHECK (round >= 0),
    items_left      INTEGER NOT NULL CHECK (items_left >= 0),
    items_failed    INTEGER NOT NULL CHECK (items_failed >= 0),
    items_cancelled INTEGER NOT NULL CHECK (items_cancelled >= 0),
    PRIMARY KEY (dag_run_id, task)
) STRICT, WITHOUT ROWID;

-- Tasks that wait for a person, or for an event of this name and correlation.
CREATE TABLE task_holds (
    dag_run_id   BLOB    NOT NULL,
    task         INTEGER NOT NULL,
    tenant_id    BLOB    NOT NULL,
    round        INTEGER NOT NULL,
    event        TEXT,
    correlation  TEXT,
    until        INTEGER,
    PRIMARY KEY (dag_run_id, task),
    CHECK ((event IS NULL) = (correlation IS NULL))
) STRICT;
CREATE INDEX task_holds_until ON task_holds (until) WHERE until IS NOT NULL;
CREATE INDEX task_holds_event ON task_holds (tenant_id, event, correlation) WHERE event IS NOT NULL;

-- How tasks ended that no execution ended: results and failures by round.
CREATE TABLE task_notes (
    dag_run_id      BLOB    NOT NULL,
    task            INTEGER NOT NULL,
    round           INTEGER NOT NULL,
    tenant_id       BLOB    NOT NULL,
    result          TEXT,
    failure_kind    TEXT,
    failure_message TEXT,
    at              INTEGER NOT NULL,
    PRIMARY KEY (dag_run_id, task, round),
    CHECK ((failure_kind IS NULL) = (failure_message IS NULL))
) STRICT;

-- Runs of the past, some at a time. The times are settled when it is made; a run begins when there is room for it.
CREATE TABLE backfills (
    id          BLOB    NOT NULL PRIMARY KEY,
    tenant_id   BLOB    NOT NULL REFERENCES tenants (id),
    dag_id      BLOB    NOT NULL REFERENCES dags (id),
    status      TEXT    NOT NULL CHECK (status IN ('RUNNING', 'PAUSED', 'COMPLETED', 'CANCELLED')),
    first_time  INTEGER NOT NULL,
    last_time   INTEGER NOT NULL,
    existing    TEXT    NOT NULL CHECK (existing IN ('skip_existing', 'only_failed', 'all')),
    concurrency INTEGER NOT NULL CHECK (concurrency >= 1),
    priority    INTEGER CHECK (priority BETWEEN 0 AND 9),
    config      TEXT,
    created_at  INTEGER NOT NULL,
    finished_at INTEGER,
    CHECK (first_time <= last_time),
    CHECK ((finished_at IS NULL) = (status IN ('RUNNING', 'PAUSED')))
) STRICT;
CREATE INDEX backfills_dag ON backfills (dag_id, id);
CREATE INDEX backfills_live ON backfills (id) WHERE finished_at IS NULL;

CREATE TABLE backfill_times (
    backfill_id  BLOB    NOT NULL,
    nominal_time INTEGER NOT NULL,
    tenant_id    BLOB    NOT NULL,
    dag_id       BLOB    NOT NULL,
    state        TEXT    NOT NULL CHECK (state IN ('WAITING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')),
    execution_id BLOB,
    PRIMARY KEY (backfill_id, nominal_time),
    CHECK (execution_id IS NULL OR state <> 'WAITING'),
    CHECK (execution_id IS NOT NULL OR state IN ('WAITING', 'CANCELLED'))
) STRICT, WITHOUT ROWID;
CREATE INDEX backfill_times_state ON backfill_times (backfill_id, state, nominal_time);
CREATE INDEX backfill_times_dag ON backfill_times (dag_id, nominal_time);
CREATE INDEX backfill_times_run ON backfill_times (execution_id) WHERE execution_id IS NOT NULL;
