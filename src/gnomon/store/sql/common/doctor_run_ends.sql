SELECT dag_runs.id
FROM dag_runs
WHERE dag_runs.finished_at IS NOT NULL AND (
    dag_runs.id IN (SELECT execution_id FROM queue) -- The execution that it is.
    OR EXISTS (SELECT 1 FROM task_instances
            WHERE task_instances.dag_run_id = dag_runs.id
              AND task_instances.status IN ('WAITING', 'RELEASED', 'HELD', 'HALTED'))
    OR dag_runs.id IN (
        SELECT executions.dag_run_id
        FROM (SELECT execution_id FROM queue WHERE in_run UNION ALL SELECT execution_id FROM leases WHERE in_run) AS live
        JOIN executions ON executions.id = live.execution_id
        WHERE executions.dag_run_id IS NOT NULL))
LIMIT :limit
