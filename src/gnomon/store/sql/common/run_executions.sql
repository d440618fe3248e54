-- What the tasks of a run did in the round that they are in; of a fan-out, all its items.
SELECT executions.task, executions.item, executions.id AS execution_id
FROM task_instances JOIN executions ON executions.dag_run_id = task_instances.dag_run_id
    AND executions.task = task_instances.task AND executions.round = task_instances.round
WHERE task_instances.dag_run_id = :run_id AND task_instances.tenant_id = :tenant_id
  AND task_instances.task > :after AND task_instances.task <= :last
ORDER BY executions.task, executions.item
LIMIT :limit
