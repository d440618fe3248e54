UPDATE leases SET watched = 1, awaited = awaited OR :awaited
WHERE job_id = :job_id AND NOT in_run AND NOT (watched AND (awaited OR NOT :awaited))
