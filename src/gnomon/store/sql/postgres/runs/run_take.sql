-- From now on it waits for its tasks. Moved, not updated: see watch_waiting.sql.
WITH taken AS (
    DELETE FROM queue
    WHERE execution_id = :execution_id AND waits_for IS NULL AND due <= :now
    RETURNING *
), told AS (
    @event('execution.started' AS type, ARRAY[execution_id] AS subjects)
    FROM taken WHERE @is_followed
), moved AS (
    @waiting(nominal_time, claim, attempts, crashes, 'tasks' AS waits_for, watched, awaited)
    FROM taken
)
SELECT taken.execution_id, taken.tenant_id, taken.job_id, taken.revision, taken.nominal_time,
       executions.input, executions.dag_run_id, executions.task, executions.round,
       backfills.priority
FROM taken JOIN executions ON executions.id = taken.execution_id
LEFT JOIN backfill_times ON backfill_times.execution_id = taken.execution_id
LEFT JOIN backfills ON backfills.id = backfill_times.backfill_id
