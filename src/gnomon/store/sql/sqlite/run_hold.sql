UPDATE queue SET waits_for = 'approval'
WHERE in_run AND waits_for IS NULL
  AND execution_id IN (SELECT id FROM executions WHERE dag_run_id = :run_id)
