SELECT leases.execution_id, leases.job_id, leases.revision, leases.priority, leases.due,
       leases.nominal_time, leases.claim, leases.attempts, leases.crashes, executions.input,
       leases.worker, leases.started_at, leases.lease_until, leases.cancel_requested
FROM held
JOIN leases ON leases.execution_id = held.execution_id AND leases.claim = held.claim
JOIN executions ON executions.id = leases.execution_id
