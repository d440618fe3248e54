-- Rare (a reply got lost), so it has no index of its own and reads all that runs.
SELECT leases.execution_id, leases.job_id, leases.revision, leases.priority, leases.due,
       leases.nominal_time, leases.claim, leases.attempts, leases.crashes, executions.input,
       leases.worker, leases.started_at, leases.lease_until, leases.cancel_requested
FROM leases JOIN executions ON executions.id = leases.execution_id
WHERE leases.request_id = :request_id AND leases.worker = :worker
ORDER BY leases.priority DESC, leases.due, leases.execution_id
