SELECT dead_letters.execution_id, job_id, redriven_as
FROM redrive JOIN dead_letters USING (execution_id)
WHERE tenant_id = :tenant_id
