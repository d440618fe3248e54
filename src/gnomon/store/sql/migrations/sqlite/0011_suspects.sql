-- expand: executions whose worker died wait for a worker that runs nothing else.

-- SQLite cannot change a CHECK, so the table is made anew, with one more gate. The view that reads it stays.
PRAGMA legacy_alter_table = ON;
CREATE TABLE new_queue (
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
    waits_for    TEXT    CHECK (waits_for IN ('slot', 'jobs', 'tasks', 'event', 'approval', 'empty_worker')),
    watched      INTEGER NOT NULL DEFAULT 0,
    awaited      INTEGER NOT NULL DEFAULT 0,
    newer_than   INTEGER,
    in_run       INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO new_queue
SELECT execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, claim, attempts, crashes,
       waits_for, watched, awaited, newer_than, in_run
FROM queue;
DROP TABLE queue;
ALTER TABLE new_queue RENAME TO queue;
PRAGMA legacy_alter_table = OFF;
CREATE INDEX queue_claimable ON queue (lane_id, priority, due, execution_id) WHERE waits_for IS NULL;
CREATE INDEX queue_watched ON queue (job_id, waits_for) WHERE watched;
CREATE INDEX queue_gated ON queue (job_id, waits_for, priority DESC, due, execution_id)
    WHERE waits_for IS NOT NULL;
CREATE INDEX queue_slot_due ON queue (due) WHERE waits_for = 'slot';
CREATE INDEX queue_suspects ON queue (lane_id, due, execution_id) WHERE waits_for = 'empty_worker';

-- A worker that claims nothing until it is empty, for a suspect of the lane. One a lane, and for a while only.
CREATE TABLE suspect_reservations (
    lane_id        INTEGER NOT NULL PRIMARY KEY,
    worker         TEXT    NOT NULL,
    reserved_until INTEGER NOT NULL,
    give_up_at     INTEGER NOT NULL,
    rest_until     INTEGER NOT NULL
) STRICT;
