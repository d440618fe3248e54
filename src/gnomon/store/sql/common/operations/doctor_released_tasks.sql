SELECT task_instances.dag_run_id
FROM task_instances
WHERE task_instances.status = 'RELEASED' AND NOT EXISTS (
    SELECT 1 FROM executions
    WHERE executions.dag_run_id = task_instances.dag_run_id AND executions.task = task_instances.task
      AND executions.round = task_instances.round)
LIMIT :limit
