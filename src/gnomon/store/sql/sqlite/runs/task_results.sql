WITH wanted AS MATERIALIZED (
    SELECT task_instances.dag_run_id, task_instances.task, task_instances.round
    FROM wanted_task JOIN task_instances ON task_instances.dag_run_id = wanted_task.dag_run_id
                                        AND task_instances.task = wanted_task.task
    WHERE task_instances.status IN ('COMPLETED', 'RELEASED') -- Released: its end is just being accepted.
), found AS (
    SELECT wanted.dag_run_id, wanted.task, executions.item, endings.result,
           sum(length(CAST(endings.result AS BLOB))) OVER (PARTITION BY wanted.dag_run_id, wanted.task) AS size
    FROM wanted
    JOIN executions ON executions.dag_run_id = wanted.dag_run_id AND executions.task = wanted.task
                   AND executions.round = wanted.round
    JOIN endings ON endings.execution_id = executions.id
)
SELECT wanted.dag_run_id, wanted.task, NULL AS item, task_notes.result, 0 AS place, 1 AS fits
FROM wanted JOIN task_notes ON task_notes.dag_run_id = wanted.dag_run_id AND task_notes.task = wanted.task
                           AND task_notes.round = wanted.round
WHERE task_notes.result IS NOT NULL
UNION ALL
SELECT dag_run_id, task, item, CASE WHEN item IS NULL OR size <= :bytes_max THEN result END, 1,
       item IS NULL OR size IS NULL OR size <= :bytes_max
FROM found
ORDER BY 1, 2, 5, 3
