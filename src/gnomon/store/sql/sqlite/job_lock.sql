SELECT version, revision FROM jobs WHERE id = :job_id AND tenant_id = :tenant_id AND status <> 'DELETED'
