UPDATE leases SET cancel_requested = CAST(1 AS boolean) WHERE job_id = :job_id AND tenant_id = :tenant_id
