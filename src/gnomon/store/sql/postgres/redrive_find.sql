SELECT dead_letters.execution_id, job_id, redriven_as
FROM unnest(:redrive.execution_id::uuid[]) AS redrive (execution_id)
JOIN dead_letters USING (execution_id)
WHERE tenant_id = :tenant_id
