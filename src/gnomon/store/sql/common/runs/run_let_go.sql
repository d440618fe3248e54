UPDATE queue SET waits_for = CASE WHEN queue.crashes > 0 THEN 'empty_worker' END
WHERE queue.waits_for = 'approval' AND in_run
  AND execution_id IN (SELECT id FROM executions WHERE dag_run_id = :run_id)
