UPDATE leases SET watched = CAST(1 AS boolean), awaited = awaited OR CAST(:awaited AS boolean)
WHERE job_id = :job_id AND NOT (watched AND (awaited OR NOT CAST(:awaited AS boolean)))
