SELECT * FROM task_instances
WHERE dag_run_id = :run_id AND tenant_id = :tenant_id AND task > :after ORDER BY task LIMIT :limit
