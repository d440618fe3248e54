SELECT executions.id AS execution_id, held.claim, executions.dag_run_id, executions.task, executions.round,
       executions.item
FROM held
JOIN leases ON leases.execution_id = held.execution_id AND leases.claim = held.claim
JOIN executions ON executions.id = held.execution_id
WHERE leases.in_run
