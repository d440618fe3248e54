-- One statement, one transaction: cursor, ledger, executions and queue move together or not at all.
-- The guard (version and next_run_time) makes it once; SKIP LOCKED keeps schedulers from waiting in line.
WITH firing AS (
    SELECT * FROM unnest(
        :firing.job_id::uuid[], :firing.expected_version::integer[],
        :firing.expected_next_run_time::timestamptz[], :firing.status::text[],
        :firing.next_run_time::timestamptz[], :firing.last_run_time::timestamptz[],
        :firing.fires::integer[], :firing.anchor::timestamptz[]
    ) AS firing (job_id, expected_version, expected_next_run_time, status, next_run_time, last_run_time,
                 fires, anchor)
), taken AS MATERIALIZED (
    SELECT jobs.id, jobs.tenant_id, jobs.revision, jobs.watched, jobs.awaited
    FROM firing JOIN jobs ON jobs.id = firing.job_id
    WHERE jobs.version = firing.expected_version AND jobs.next_run_time = firing.expected_next_run_time
    FOR NO KEY UPDATE OF jobs SKIP LOCKED
), moved AS (
    UPDATE jobs
    SET status = firing.status, next_run_time = firing.next_run_time, last_run_time = firing.last_run_time,
        fires = firing.fires, anchor = firing.anchor
    FROM firing JOIN taken ON taken.id = firing.job_id
    WHERE jobs.id = taken.id
), occurrence AS MATERIALIZED (
    SELECT occurrence.*, taken.tenant_id, taken.revision, taken.watched, taken.awaited, job_revisions.lane_id,
           job_revisions.priority
    FROM unnest(
        :occurrence.job_id::uuid[], :occurrence.nominal_time::timestamptz[],
        :occurrence.nominal_until::timestamptz[], :occurrence.count::integer[], :occurrence.reason::text[],
        :occurrence.execution_id::uuid[], :occurrence.due::timestamptz[], :occurrence.waits_for::text[],
        :occurrence.newer_than::timestamptz[]
    ) AS occurrence (job_id, nominal_time, nominal_until, count, reason, execution_id, due, waits_for,
                     newer_than)
    JOIN taken ON taken.id = occurrence.job_id
    JOIN job_revisions ON job_revisions.job_id = taken.id AND job_revisions.revision = taken.revision
    -- A nominal time that has its outcome gets no second one, and stops nobody.
    WHERE NOT EXISTS (
        SELECT FROM occurrences
        WHERE occurrences.job_id = occurrence.job_id AND occurrences.nominal_time = occurrence.nominal_time)
), noted AS (
    INSERT INTO occurrences (tenant_id, job_id, nominal_time, nominal_until, count, reason, execution_id,
                             due, recorded_at)
    SELECT tenant_id, job_id, nominal_time, nominal_until, count, reason, execution_id, due, :now
    FROM occurrence
), made AS (
    INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, nominal_time, due, created_at)
    SELECT execution_id, tenant_id, job_id, revision, 'schedule', priority, nominal_time, due, :now
    FROM occurrence WHERE execution_id IS NOT NULL
), queued AS (
    INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time,
                       waits_for, newer_than, watched, awaited)
    SELECT execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time,
           waits_for, newer_than, watched, awaited
    FROM occurrence WHERE execution_id IS NOT NULL
)
SELECT id AS job_id FROM taken
