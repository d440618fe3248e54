SELECT execution_id FROM queue
WHERE job_id = :job_id AND watched AND coalesce(waits_for, '') <> 'tasks' AND execution_id NOT IN (SELECT id FROM wanted)
UNION ALL
SELECT execution_id FROM leases WHERE job_id = :job_id AND watched AND NOT cancel_requested
LIMIT 1
