-- Both tables in one statement: in two, an execution on its way from one to the other would be in neither.
SELECT execution_id FROM queue
WHERE job_id = :job_id AND tenant_id = :tenant_id AND NOT in_run AND coalesce(waits_for, '') <> 'tasks'
UNION ALL
SELECT execution_id FROM leases
WHERE job_id = :job_id AND tenant_id = :tenant_id AND NOT in_run AND NOT cancel_requested
LIMIT 1
