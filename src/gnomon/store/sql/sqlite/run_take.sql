INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, tenant_id, 'execution.started', :now, json_array(hex(execution_id))
FROM queue
WHERE execution_id = :execution_id AND waits_for IS NULL AND due <= :now
  AND EXISTS (SELECT 1 FROM event_followers);

SELECT queue.execution_id, queue.tenant_id, queue.job_id, queue.revision, queue.nominal_time,
       executions.input, executions.dag_run_id, executions.task, executions.round
FROM queue JOIN executions ON executions.id = queue.execution_id
WHERE queue.execution_id = :execution_id AND queue.waits_for IS NULL AND queue.due <= :now;

UPDATE queue SET waits_for = 'tasks' WHERE execution_id = :execution_id AND waits_for IS NULL AND due <= :now
