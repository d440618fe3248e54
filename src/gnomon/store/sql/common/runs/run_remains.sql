-- Both tables in one statement: in two, an execution on its way from one to the other would be in neither.
SELECT queue.execution_id
FROM executions JOIN queue ON queue.execution_id = executions.id
WHERE executions.dag_run_id = :run_id AND coalesce(queue.waits_for, '') <> 'tasks'
UNION ALL
SELECT leases.execution_id
FROM executions JOIN leases ON leases.execution_id = executions.id
WHERE executions.dag_run_id = :run_id AND NOT leases.cancel_requested
LIMIT 1
