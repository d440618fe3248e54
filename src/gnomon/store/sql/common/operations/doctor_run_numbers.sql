SELECT dag_runs.id
FROM dag_runs JOIN (
    SELECT dag_run_id,
           count(CASE WHEN status IN ('WAITING', 'RELEASED', 'HELD', 'HALTED') THEN 1 END) AS unended,
           count(CASE WHEN status = 'RELEASED' THEN 1 END) AS live,
           count(CASE WHEN status = 'HALTED' THEN 1 END) AS halted,
           count(CASE WHEN status = 'COMPLETED' THEN 1 END) AS completed,
           count(CASE WHEN status = 'FAILED' THEN 1 END) AS failed,
           count(CASE WHEN status = 'CANCELLED' THEN 1 END) AS cancelled
    FROM task_instances GROUP BY dag_run_id
) AS counted ON counted.dag_run_id = dag_runs.id
WHERE dag_runs.unended <> counted.unended OR dag_runs.live <> counted.live OR dag_runs.halted <> counted.halted
   OR dag_runs.completed <> counted.completed OR dag_runs.failed <> counted.failed
   OR dag_runs.cancelled <> counted.cancelled
LIMIT :limit
