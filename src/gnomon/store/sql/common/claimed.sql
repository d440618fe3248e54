SELECT leases.*, executions.input
FROM leases JOIN executions ON executions.id = leases.execution_id
WHERE leases.request_id = :request_id
