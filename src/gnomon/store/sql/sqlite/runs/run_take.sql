@event('execution.started' AS type, json_array(hex(execution_id)) AS subjects)
FROM queue
WHERE execution_id = :execution_id AND waits_for IS NULL AND due <= :now
  AND @is_followed;

SELECT queue.execution_id, queue.tenant_id, queue.job_id, queue.revision, queue.nominal_time,
       executions.input, executions.dag_run_id, executions.task, executions.round,
       backfills.priority
FROM queue JOIN executions ON executions.id = queue.execution_id
LEFT JOIN backfill_times ON backfill_times.execution_id = queue.execution_id
LEFT JOIN backfills ON backfills.id = backfill_times.backfill_id
WHERE queue.execution_id = :execution_id AND queue.waits_for IS NULL AND queue.due <= :now;

UPDATE queue SET waits_for = 'tasks' WHERE execution_id = :execution_id AND waits_for IS NULL AND due <= :now
