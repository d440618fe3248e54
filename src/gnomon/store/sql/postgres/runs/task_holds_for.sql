SELECT dag_run_id, task, round FROM task_holds
WHERE tenant_id = :tenant_id AND event = :event AND md5(correlation) = md5(:correlation)
  AND correlation = :correlation
ORDER BY dag_run_id, task
LIMIT :limit
