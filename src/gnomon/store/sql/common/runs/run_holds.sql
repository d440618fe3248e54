SELECT task, event, correlation, until FROM task_holds
WHERE dag_run_id = :run_id AND tenant_id = :tenant_id AND task > :after AND task <= :last
