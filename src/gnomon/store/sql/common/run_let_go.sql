UPDATE queue SET waits_for = NULL
WHERE queue.waits_for = 'approval' AND in_run
  AND execution_id IN (SELECT id FROM executions WHERE dag_run_id = :run_id)
