-- expand: workflows. A DAG is a job; a run of it is an execution of that job; a task of a run is an execution too.

-- Drafts that no release has read or written.
DROP TABLE task_instances, dag_runs, task_dependencies, dag_tasks, dag_revisions, dags;

-- The tasks of a DAG are revisions of its job: what a claim needs to know is where it looks anyway.
ALTER TABLE job_revisions ADD COLUMN is_task boolean NOT NULL DEFAULT false;

-- Which task of which run an execution is for, in which round, and for which item of a fan-out.
ALTER TABLE executions
    ADD COLUMN dag_run_id uuid,
    ADD COLUMN task       integer,
    ADD COLUMN round      integer,
    ADD COLUMN item       integer;
CREATE INDEX executions_run ON executions (dag_run_id, task, round, item) WHERE dag_run_id IS NOT NULL;

-- The flag travels with the execution, so that nobody else pays for those that belong to a run.
ALTER TABLE queue ADD COLUMN in_run boolean NOT NULL DEFAULT false;
ALTER TABLE leases ADD COLUMN in_run boolean NOT NULL DEFAULT false;

CREATE TABLE dags (
    id        uuid    PRIMARY KEY REFERENCES jobs (id), -- Its name, schedule, status and version.
    tenant_id uuid    NOT NULL REFERENCES tenants (id),
    revision  integer NOT NULL CHECK (revision >= 1)
);
CREATE INDEX dags_tenant ON dags (tenant_id, id);

-- `base`: the revision of the job that stands for the whole; its tasks are the `tasks` revisions that follow.
CREATE TABLE dag_revisions (
    dag_id     uuid        NOT NULL REFERENCES dags (id),
    revision   integer     NOT NULL CHECK (revision >= 1),
    tenant_id  uuid        NOT NULL REFERENCES tenants (id),
    base       integer     NOT NULL CHECK (base >= 1),
    tasks      integer     NOT NULL CHECK (tasks >= 1),
    definition json        NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (dag_id, revision),
    UNIQUE (dag_id, base)
);
CREATE TRIGGER dag_revisions_are_immutable BEFORE UPDATE ON dag_revisions
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- A run that has begun. Its row is the lock of all that happens to it. The numbers count its tasks.
CREATE TABLE dag_runs (
    id           uuid        PRIMARY KEY, -- That of its execution, which waits in `queue` for its tasks.
    tenant_id    uuid        NOT NULL,
    dag_id       uuid        NOT NULL,
    base         integer     NOT NULL,
    status       text        NOT NULL
                 CHECK (status IN ('PENDING', 'RUNNING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED')),
    unended      integer     NOT NULL CHECK (unended >= 0),
    live         integer     NOT NULL CHECK (live BETWEEN 0 AND unended),
    halted       integer     NOT NULL CHECK (halted BETWEEN 0 AND unended),
    completed    integer     NOT NULL CHECK (completed >= 0),
    failed       integer     NOT NULL CHECK (failed >= 0),
    cancelled    integer     NOT NULL CHECK (cancelled >= 0),
    is_paused    boolean     NOT NULL,
    ends_as      text        CHECK (ends_as IN ('FAILED', 'CANCELLED')),
    config       json        NOT NULL,
    nesting      integer     NOT NULL CHECK (nesting >= 0),
    outer_run_id uuid, -- The run that this one is a task of.
    outer_task   integer,
    outer_round  integer,
    nominal_time timestamptz,
    priority     smallint    CHECK (priority BETWEEN 0 AND 9), -- Of its tasks. NULL: as each of them says.
    version      integer     NOT NULL DEFAULT 0, -- Grows with every change of the run or of one of its tasks.
    has_tasks    boolean     NOT NULL DEFAULT true, -- Not if it could not begin. Then it has ended, for ever.
    started_at   timestamptz NOT NULL,
    finished_at  timestamptz,
    CHECK ((outer_run_id IS NULL) = (outer_task IS NULL)),
    CHECK ((finished_at IS NULL) = (status IN ('PENDING', 'RUNNING', 'PAUSED'))),
    CHECK (has_tasks OR finished_at IS NOT NULL)
) WITH (fillfactor = 50);
CREATE INDEX dag_runs_dag ON dag_runs (dag_id, id);
CREATE INDEX dag_runs_live ON dag_runs (id) WHERE finished_at IS NULL;
CREATE INDEX dag_runs_inner ON dag_runs (outer_run_id) WHERE outer_run_id IS NOT NULL;

-- No index but the key, so that a counter that moves stays in its page.
CREATE TABLE task_instances (
    dag_run_id      uuid    NOT NULL,
    task            integer NOT NULL, -- Its place in the definition.
    tenant_id       uuid    NOT NULL,
    status          text    NOT NULL CHECK (status IN ('WAITING', 'RELEASED', 'HELD', 'HALTED', 'COMPLETED',
                                                       'FAILED', 'CANCELLED', 'SKIPPED', 'UPSTREAM_FAILED')),
    parents_left    integer NOT NULL CHECK (parents_left >= 0),
    parents_failed  integer NOT NULL CHECK (parents_failed >= 0),
    parents_skipped integer NOT NULL CHECK (parents_skipped >= 0),
    round           integer NOT NULL CHECK (round >= 0),
    items_left      integer NOT NULL CHECK (items_left >= 0),
    items_failed    integer NOT NULL CHECK (items_failed >= 0),
    items_cancelled integer NOT NULL CHECK (items_cancelled >= 0),
    PRIMARY KEY (dag_run_id, task)
) WITH (fillfactor = 70);

-- Tasks that wait for a person, or for an event of this name and correlation.
CREATE TABLE task_holds (
    dag_run_id   uuid    NOT NULL,
    task         integer NOT NULL,
    tenant_id    uuid    NOT NULL,
    round        integer NOT NULL,
    event        text,
    correlation  text,
    until        timestamptz,
    PRIMARY KEY (dag_run_id, task),
    CHECK ((event IS NULL) = (correlation IS NULL))
);
CREATE INDEX task_holds_until ON task_holds (until) WHERE until IS NOT NULL;
-- By digest: a correlation may be longer than an index can hold.
CREATE INDEX task_holds_event ON task_holds (tenant_id, event, md5(correlation)) WHERE event IS NOT NULL;

-- How tasks ended that no execution ended: results and failures by round.
CREATE TABLE task_notes (
    dag_run_id      uuid        NOT NULL,
    task            integer     NOT NULL,
    round           integer     NOT NULL,
    tenant_id       uuid        NOT NULL,
    result          json,
    failure_kind    text,
    failure_message text,
    at              timestamptz NOT NULL,
    PRIMARY KEY (dag_run_id, task, round),
    CHECK ((failure_kind IS NULL) = (failure_message IS NULL))
);

-- Runs of the past, some at a time. The times are settled when it is made; a run begins when there is room for it.
CREATE TABLE backfills (
    id          uuid        PRIMARY KEY,
    tenant_id   uuid        NOT NULL REFERENCES tenants (id),
    dag_id      uuid        NOT NULL REFERENCES dags (id),
    status      text        NOT NULL CHECK (status IN ('RUNNING', 'PAUSED', 'COMPLETED', 'CANCELLED')),
    first_time  timestamptz NOT NULL,
    last_time   timestamptz NOT NULL,
    existing    text        NOT NULL CHECK (existing IN ('skip_existing', 'only_failed', 'all')),
    concurrency integer     NOT NULL CHECK (concurrency >= 1),
    priority    smallint    CHECK (priority BETWEEN 0 AND 9),
    config      json,
    created_at  timestamptz NOT NULL,
    finished_at timestamptz,
    CHECK (first_time <= last_time),
    CHECK ((finished_at IS NULL) = (status IN ('RUNNING', 'PAUSED')))
);
CREATE INDEX backfills_dag ON backfills (dag_id, id);
CREATE INDEX backfills_live ON backfills (id) WHERE finished_at IS NULL;

CREATE TABLE backfill_times (
    backfill_id  uuid        NOT NULL,
    nominal_time timestamptz NOT NULL,
    tenant_id    uuid        NOT NULL,
    dag_id       uuid        NOT NULL,
    state        text        NOT NULL CHECK (state IN ('WAITING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')),
    execution_id uuid,
    PRIMARY KEY (backfill_id, nominal_time),
    CHECK (execution_id IS NULL OR state <> 'WAITING'),
    CHECK (execution_id IS NOT NULL OR state IN ('WAITING', 'CANCELLED'))
);
CREATE INDEX backfill_times_state ON backfill_times (backfill_id, state, nominal_time);
CREATE INDEX backfill_times_dag ON backfill_times (dag_id, nominal_time);
CREATE INDEX backfill_times_run ON backfill_times (execution_id) WHERE execution_id IS NOT NULL;
