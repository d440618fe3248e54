SELECT * FROM current_jobs WHERE tenant_id = :tenant_id AND id = :job_id
