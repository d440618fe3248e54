-- What the tasks of a run did in the round that they are in; of a fan-out, all its items. Of each task, one failure:
-- a thousand items may say the same, at length.
SELECT task, item, execution_id, outcome, is_over, is_leased, attempts, started_at, finished_at,
       CASE WHEN place = 1 THEN item END AS failed_item,
       CASE WHEN place = 1 THEN failure_kind END AS failure_kind,
       CASE WHEN place = 1 THEN failure_message END AS failure_message
FROM (
    SELECT ran.*, row_number() OVER (PARTITION BY task ORDER BY failure_kind IS NULL, item) AS place
    FROM (
        SELECT executions.task, executions.item, executions.id AS execution_id,
               endings.outcome, endings.outcome IS NOT NULL AS is_over,
               leases.execution_id IS NOT NULL AS is_leased,
               coalesce(endings.attempts, leases.attempts, queue.attempts) AS attempts,
               coalesce(endings.started_at, leases.started_at, dag_runs.started_at) AS started_at,
               endings.finished_at, endings.failure_kind, endings.failure_message
        FROM task_instances JOIN executions ON executions.dag_run_id = task_instances.dag_run_id
            AND executions.task = task_instances.task AND executions.round = task_instances.round
        LEFT JOIN endings ON endings.execution_id = executions.id
        LEFT JOIN leases ON leases.execution_id = executions.id
        LEFT JOIN queue ON queue.execution_id = executions.id
        LEFT JOIN dag_runs ON dag_runs.id = executions.id
        WHERE task_instances.dag_run_id = :run_id AND task_instances.tenant_id = :tenant_id
          AND task_instances.task > :after AND task_instances.task <= :last
        ORDER BY executions.task, executions.item
        LIMIT :limit
    ) AS ran
) AS placed
ORDER BY task, item
