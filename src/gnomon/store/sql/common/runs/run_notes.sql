SELECT task_notes.task, task_notes.result, task_notes.failure_kind, task_notes.failure_message, task_notes.at
FROM task_instances JOIN task_notes ON task_notes.dag_run_id = task_instances.dag_run_id
    AND task_notes.task = task_instances.task AND task_notes.round = task_instances.round
WHERE task_instances.dag_run_id = :run_id AND task_instances.tenant_id = :tenant_id
  AND task_instances.task > :after AND task_instances.task <= :last
