-- Of the round that the row of the task is in: what was noted, or what its execution or executions brought.
-- Together larger than a result may be, they stay where they are.
WITH wanted AS MATERIALIZED (
    SELECT task_instances.dag_run_id, task_instances.task, task_instances.round
    FROM unnest(:wanted_task.dag_run_id::uuid[], :wanted_task.task::integer[]) AS asked (dag_run_id, task)
    JOIN task_instances USING (dag_run_id, task)
    WHERE task_instances.status IN ('COMPLETED', 'RELEASED') -- Released: its end is just being accepted.
), found AS (
    SELECT wanted.dag_run_id, wanted.task, executions.item, endings.result,
           sum(octet_length(endings.result::text)) OVER (PARTITION BY wanted.dag_run_id, wanted.task) AS size
    FROM wanted
    JOIN executions ON executions.dag_run_id = wanted.dag_run_id AND executions.task = wanted.task
                   AND executions.round = wanted.round
    JOIN endings ON endings.execution_id = executions.id
)
SELECT wanted.dag_run_id, wanted.task, NULL::integer AS item, task_notes.result, 0 AS place, true AS fits
FROM wanted JOIN task_notes ON task_notes.dag_run_id = wanted.dag_run_id AND task_notes.task = wanted.task
                           AND task_notes.round = wanted.round
WHERE task_notes.result IS NOT NULL
UNION ALL
SELECT dag_run_id, task, item, CASE WHEN item IS NULL OR size <= :bytes_max THEN result END, 1,
       item IS NULL OR size IS NULL OR size <= :bytes_max
FROM found
ORDER BY dag_run_id, task, place, item
