SELECT leases.*, executions.input
FROM leases JOIN executions ON executions.id = leases.execution_id
WHERE leases.lease_until < :now
ORDER BY leases.lease_until, leases.execution_id
LIMIT :limit
