-- From now on it waits for its tasks. Moved, not updated: see watch_waiting.sql.
WITH taken AS (
    DELETE FROM queue
    WHERE execution_id = :execution_id AND waits_for IS NULL AND due <= :now
    RETURNING *
), told AS (
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, 'execution.started', :now, ARRAY[execution_id]
    FROM taken WHERE EXISTS (SELECT 1 FROM event_followers)
), moved AS (
    INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, claim,
                       attempts, crashes, watched, awaited, waits_for)
    SELECT execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, claim, attempts,
           crashes, watched, awaited, 'tasks'
    FROM taken
)
SELECT taken.execution_id, taken.tenant_id, taken.job_id, taken.revision, taken.nominal_time,
       executions.input, executions.dag_run_id, executions.task, executions.round,
       backfills.priority
FROM taken JOIN executions ON executions.id = taken.execution_id
LEFT JOIN backfill_times ON backfill_times.execution_id = taken.execution_id
LEFT JOIN backfills ON backfills.id = backfill_times.backfill_id
