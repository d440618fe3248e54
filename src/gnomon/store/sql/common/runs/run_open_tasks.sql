-- What has begun and not ended, first what a person can do something about.
SELECT begun.task, begun.status, task_holds.event, task_holds.correlation, task_holds.until,
       coalesce(task_notes.failure_kind, endings.failure_kind) AS failure_kind,
       coalesce(task_notes.failure_message, endings.failure_message) AS failure_message,
       begun.execution_id
FROM (
    SELECT dag_run_id, task, round, status,
           CASE status WHEN 'HALTED' THEN 0 WHEN 'HELD' THEN 1 ELSE 2 END AS place,
           (SELECT queue.execution_id FROM executions JOIN queue ON queue.execution_id = executions.id
            WHERE executions.dag_run_id = task_instances.dag_run_id AND executions.task = task_instances.task
              AND executions.round = task_instances.round
            ORDER BY executions.item LIMIT 1) AS execution_id,
           (SELECT endings.execution_id FROM executions JOIN endings ON endings.execution_id = executions.id
            WHERE task_instances.status = 'HALTED' AND executions.dag_run_id = task_instances.dag_run_id
              AND executions.task = task_instances.task AND executions.round = task_instances.round
              AND endings.outcome <> 'COMPLETED'
            ORDER BY executions.item LIMIT 1) AS failed_id
    FROM task_instances
    WHERE dag_run_id = :run_id AND tenant_id = :tenant_id AND status IN ('HALTED', 'HELD', 'RELEASED')
    ORDER BY place, task
    LIMIT :limit
) AS begun
LEFT JOIN task_holds ON task_holds.dag_run_id = begun.dag_run_id AND task_holds.task = begun.task
LEFT JOIN task_notes ON task_notes.dag_run_id = begun.dag_run_id AND task_notes.task = begun.task
                    AND task_notes.round = begun.round AND begun.status = 'HALTED'
LEFT JOIN endings ON endings.execution_id = begun.failed_id
ORDER BY begun.place, begun.task
