-- Which of these claims are of tasks, and of which. A look: the fence comes later, under the lock of the run.
SELECT executions.id AS execution_id, held.claim, executions.dag_run_id, executions.task, executions.round,
       executions.item
FROM unnest(:held.execution_id::uuid[], :held.claim::integer[]) AS held (execution_id, claim)
JOIN leases ON leases.execution_id = held.execution_id AND leases.claim = held.claim
JOIN executions ON executions.id = held.execution_id
WHERE leases.in_run
