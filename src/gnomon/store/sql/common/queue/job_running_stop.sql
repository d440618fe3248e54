-- The tasks of a workflow stop when their run does.
UPDATE leases SET cancel_requested = CAST(1 AS boolean) 
WHERE job_id = :job_id AND tenant_id = :tenant_id AND NOT in_run
