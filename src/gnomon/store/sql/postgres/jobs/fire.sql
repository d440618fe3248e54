-- One statement, one transaction: cursor, ledger, executions and queue move together or not at all.
-- The guard (version and next_run_time) makes it once; SKIP LOCKED keeps schedulers from waiting in line.
WITH taken AS MATERIALIZED (
    SELECT jobs.id, jobs.tenant_id, jobs.revision, jobs.watched, jobs.awaited, firing.status,
           firing.next_run_time, firing.last_run_time, firing.fires, firing.anchor, firing.first_place,
           firing.last_place
    FROM unnest(
        :firing.job_id::uuid[], :firing.expected_version::integer[],
        :firing.expected_next_run_time::timestamptz[], :firing.status::text[],
        :firing.next_run_time::timestamptz[], :firing.last_run_time::timestamptz[],
        :firing.fires::integer[], :firing.anchor::timestamptz[], :firing.first_place::integer[],
        :firing.last_place::integer[]
    ) AS firing (job_id, expected_version, expected_next_run_time, status, next_run_time, last_run_time,
                 fires, anchor, first_place, last_place)
    JOIN jobs ON jobs.id = firing.job_id
    WHERE jobs.version = firing.expected_version AND jobs.next_run_time = firing.expected_next_run_time
    FOR NO KEY UPDATE OF jobs SKIP LOCKED
), moved AS (
    UPDATE jobs
    SET status = taken.status, next_run_time = taken.next_run_time, last_run_time = taken.last_run_time,
        fires = taken.fires, anchor = taken.anchor
    FROM taken
    WHERE jobs.id = taken.id
), outcome AS MATERIALIZED (
    -- By place, not by a join: without an index to use, that would compare every firing with every outcome.
    SELECT taken.id AS job_id, taken.tenant_id, taken.revision, taken.watched, taken.awaited,
           (:occurrence.nominal_time::timestamptz[])[place] AS nominal_time,
           (:occurrence.nominal_until::timestamptz[])[place] AS nominal_until,
           (:occurrence.count::integer[])[place] AS count,
           (:occurrence.reason::text[])[place] AS reason,
           (:occurrence.execution_id::uuid[])[place] AS execution_id,
           (:occurrence.due::timestamptz[])[place] AS due,
           (:occurrence.waits_for::text[])[place] AS waits_for,
           (:occurrence.newer_than::timestamptz[])[place] AS newer_than
    FROM taken CROSS JOIN generate_series(taken.first_place, taken.last_place) AS place
), occurrence AS MATERIALIZED (
    SELECT outcome.*, job_revisions.lane_id, job_revisions.priority
    FROM outcome
    JOIN job_revisions ON job_revisions.job_id = outcome.job_id AND job_revisions.revision = outcome.revision
    -- A nominal time that has its outcome gets no second one, and stops nobody.
    WHERE NOT EXISTS (
        SELECT FROM occurrences
        WHERE occurrences.job_id = outcome.job_id AND occurrences.nominal_time = outcome.nominal_time)
), noted AS (
    INSERT INTO occurrences (tenant_id, job_id, nominal_time, nominal_until, count, reason, execution_id,
                             due, recorded_at)
    SELECT tenant_id, job_id, nominal_time, nominal_until, count, reason, execution_id, due, :now
    FROM occurrence
), made AS (
    @execution('schedule' AS trigger, nominal_time)
    FROM occurrence WHERE execution_id IS NOT NULL
), told AS (
    @event(array_agg(subject) AS subjects,
           CASE WHEN place < 3 THEN array_agg(nominal_time) END AS nominal_times)
    FROM (
        SELECT 1 AS place, tenant_id, 'occurrence.fired' AS type, job_id AS subject, nominal_time
        FROM occurrence WHERE reason IS NULL
        UNION ALL
        SELECT 2, tenant_id, 'occurrence.skipped', job_id, nominal_time FROM occurrence WHERE reason IS NOT NULL
        UNION ALL
        SELECT 3, tenant_id, 'execution.created', execution_id, NULL
        FROM occurrence WHERE execution_id IS NOT NULL
    ) AS happened
    WHERE @is_followed GROUP BY place, tenant_id, type ORDER BY place
), queued AS (
    @waiting(nominal_time, waits_for, newer_than, watched, awaited)
    FROM occurrence WHERE execution_id IS NOT NULL
)
SELECT id AS job_id FROM taken
