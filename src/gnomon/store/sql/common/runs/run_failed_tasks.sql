-- What failed in a run, task by task: of a fan-out, the first item that did. Also where other items still run.
SELECT failed.task, failed.status, failed.items_left, failed.items_failed, failed.execution_id, executions.item,
       endings.attempts,
       coalesce(task_notes.failure_kind, endings.failure_kind) AS failure_kind,
       coalesce(task_notes.failure_message, endings.failure_message) AS failure_message
FROM (
    SELECT dag_run_id, task, round, status, items_left, items_failed,
           (SELECT endings.execution_id FROM executions JOIN endings ON endings.execution_id = executions.id
            WHERE executions.dag_run_id = task_instances.dag_run_id AND executions.task = task_instances.task
              AND executions.round = task_instances.round AND endings.outcome IN ('FAILED', 'TIMEOUT')
            ORDER BY executions.item LIMIT 1) AS execution_id
    FROM task_instances
    WHERE dag_run_id = :run_id AND tenant_id = :tenant_id
      AND (status = 'FAILED' OR (status = 'RELEASED' AND items_failed > 0))
    ORDER BY task
    LIMIT :limit
) AS failed
LEFT JOIN task_notes ON task_notes.dag_run_id = failed.dag_run_id AND task_notes.task = failed.task
                    AND task_notes.round = failed.round
LEFT JOIN executions ON executions.id = failed.execution_id
LEFT JOIN endings ON endings.execution_id = failed.execution_id
ORDER BY failed.task
