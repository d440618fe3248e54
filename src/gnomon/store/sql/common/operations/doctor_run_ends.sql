-- A UNION and no OR, so that each part is found in its own way.
SELECT dag_runs.id
FROM dag_runs
WHERE dag_runs.finished_at IS NOT NULL
  AND EXISTS (SELECT 1 FROM task_instances
              WHERE task_instances.dag_run_id = dag_runs.id
                AND task_instances.status IN ('WAITING', 'RELEASED', 'HELD', 'HALTED'))
UNION
-- The execution that it is.
SELECT dag_runs.id
FROM queue JOIN dag_runs ON dag_runs.id = queue.execution_id
WHERE dag_runs.finished_at IS NOT NULL
UNION
SELECT dag_runs.id
FROM (SELECT execution_id FROM queue WHERE in_run UNION ALL SELECT execution_id FROM leases WHERE in_run) AS live
JOIN executions ON executions.id = live.execution_id
JOIN dag_runs ON dag_runs.id = executions.dag_run_id
WHERE dag_runs.finished_at IS NOT NULL
LIMIT :limit
