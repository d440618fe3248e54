UPDATE leases SET cancel_requested = 1
WHERE execution_id IN (SELECT id FROM wanted) AND tenant_id = :tenant_id
