-- Runs that have begun, tasks of runs, and runs that are tasks of others.
SELECT executions.id AS execution_id, executions.dag_run_id, executions.task, executions.round,
       executions.item, endings.outcome,
       EXISTS (SELECT FROM dag_runs WHERE dag_runs.id = executions.id) AS has_tasks
FROM unnest(:wanted.id::uuid[]) AS wanted (id)
JOIN executions ON executions.id = wanted.id
LEFT JOIN endings ON endings.execution_id = wanted.id
WHERE executions.tenant_id = :tenant_id
  AND (executions.dag_run_id IS NOT NULL OR EXISTS (SELECT FROM dag_runs WHERE dag_runs.id = executions.id))
