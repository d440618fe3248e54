@ending(queue.execution_id AS execution_id, queue.tenant_id AS tenant_id, 'CANCELLED' AS outcome,
        queue.due AS due)
FROM queue JOIN executions ON executions.id = queue.execution_id
WHERE executions.dag_run_id = :run_id AND coalesce(queue.waits_for, '') <> 'tasks';

@event(queue.tenant_id AS tenant_id, 'execution.cancelled' AS type,
       json_group_array(hex(queue.execution_id)) AS subjects)
FROM queue JOIN executions ON executions.id = queue.execution_id
WHERE executions.dag_run_id = :run_id AND coalesce(queue.waits_for, '') <> 'tasks'
  AND @is_followed
GROUP BY queue.tenant_id;

SELECT queue.execution_id, executions.task, executions.round, executions.item
FROM queue JOIN executions ON executions.id = queue.execution_id
WHERE executions.dag_run_id = :run_id AND coalesce(queue.waits_for, '') <> 'tasks';

DELETE FROM queue
WHERE coalesce(waits_for, '') <> 'tasks'
  AND execution_id IN (SELECT id FROM executions WHERE dag_run_id = :run_id)
