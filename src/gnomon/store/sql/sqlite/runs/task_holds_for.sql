SELECT dag_run_id, task, round FROM task_holds
WHERE tenant_id = :tenant_id AND event = :event AND correlation = :correlation
ORDER BY dag_run_id, task
LIMIT :limit
