SELECT leases.execution_id, leases.job_id, leases.revision, leases.priority, leases.due,
       leases.nominal_time, leases.claim, leases.attempts, leases.crashes, executions.input,
       leases.worker, leases.started_at, leases.lease_until, leases.cancel_requested
FROM leases JOIN executions ON executions.id = leases.execution_id
WHERE leases.lease_until < :now
ORDER BY leases.lease_until, leases.execution_id
LIMIT :limit
