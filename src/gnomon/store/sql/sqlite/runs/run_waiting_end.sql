INSERT INTO endings (execution_id, tenant_id, outcome, claim, attempts, due, finished_at)
SELECT queue.execution_id, queue.tenant_id, 'CANCELLED', claim, attempts, queue.due, :now
FROM queue JOIN executions ON executions.id = queue.execution_id
WHERE executions.dag_run_id = :run_id AND coalesce(queue.waits_for, '') <> 'tasks';

INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, queue.tenant_id, 'execution.cancelled', :now, json_group_array(hex(queue.execution_id))
FROM queue JOIN executions ON executions.id = queue.execution_id
WHERE executions.dag_run_id = :run_id AND coalesce(queue.waits_for, '') <> 'tasks'
  AND EXISTS (SELECT 1 FROM event_followers)
GROUP BY queue.tenant_id;

SELECT queue.execution_id, executions.task, executions.round, executions.item
FROM queue JOIN executions ON executions.id = queue.execution_id
WHERE executions.dag_run_id = :run_id AND coalesce(queue.waits_for, '') <> 'tasks';

DELETE FROM queue
WHERE coalesce(waits_for, '') <> 'tasks'
  AND execution_id IN (SELECT id FROM executions WHERE dag_run_id = :run_id)
