UPDATE leases SET cancel_requested = 1 WHERE job_id = :job_id AND watched AND NOT in_run AND NOT cancel_requested
