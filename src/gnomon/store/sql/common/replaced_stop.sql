UPDATE leases SET cancel_requested = CAST(1 AS boolean)
WHERE job_id = :job_id AND watched AND NOT cancel_requested
