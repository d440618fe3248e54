UPDATE queue SET waits_for = 'approval'
WHERE in_run AND coalesce(waits_for, 'empty_worker') = 'empty_worker'
  AND execution_id IN (SELECT id FROM executions WHERE dag_run_id = :run_id)
