-- Of tasks that are done anew, and of the runs inside of them: what goes on from there is their run.
WITH RECURSIVE ended (id, run_id) AS (
    SELECT executions.id, wanted_task.dag_run_id
    FROM unnest(:wanted_task.dag_run_id::uuid[], :wanted_task.task::integer[]) AS wanted_task (dag_run_id, task)
    JOIN executions ON executions.dag_run_id = wanted_task.dag_run_id AND executions.task = wanted_task.task
    UNION ALL
    SELECT executions.id, ended.run_id
    FROM ended JOIN dag_runs ON dag_runs.id = ended.id JOIN executions ON executions.dag_run_id = dag_runs.id
)
UPDATE dead_letters SET redriven_as = ended.run_id, redriven_at = :now
FROM ended
WHERE dead_letters.execution_id = ended.id AND dead_letters.redriven_as IS NULL
