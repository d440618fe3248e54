UPDATE leases SET cancel_requested = true
FROM unnest(:wanted.id::uuid[]) AS wanted (id)
WHERE leases.execution_id = wanted.id AND leases.tenant_id = :tenant_id
