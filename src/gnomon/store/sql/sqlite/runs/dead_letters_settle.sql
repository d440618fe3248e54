WITH RECURSIVE ended (id, run_id) AS (
    SELECT executions.id, wanted_task.dag_run_id
    FROM wanted_task JOIN executions ON executions.dag_run_id = wanted_task.dag_run_id AND executions.task = wanted_task.task
    UNION ALL
    SELECT executions.id, ended.run_id
    FROM ended JOIN dag_runs ON dag_runs.id = ended.id JOIN executions ON executions.dag_run_id = dag_runs.id
)
UPDATE dead_letters SET redriven_as = ended.run_id, redriven_at = :now
FROM ended
WHERE dead_letters.execution_id = ended.id AND dead_letters.redriven_as IS NULL
