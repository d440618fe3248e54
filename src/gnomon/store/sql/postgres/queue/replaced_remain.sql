-- Both tables in one statement: in two, an execution on its way from one to the other would be in neither.
SELECT execution_id FROM queue
WHERE job_id = :job_id AND watched AND coalesce(waits_for, '') <> 'tasks' AND execution_id <> ALL (:wanted.id::uuid[])
UNION ALL
SELECT execution_id FROM leases WHERE job_id = :job_id AND watched AND NOT cancel_requested
LIMIT 1
