UPDATE leases SET cancel_requested = 1
WHERE in_run AND NOT cancel_requested
  AND execution_id IN (SELECT id FROM executions WHERE dag_run_id = :run_id)
RETURNING execution_id
