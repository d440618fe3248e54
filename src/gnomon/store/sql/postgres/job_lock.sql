-- FOR UPDATE, not FOR NO KEY UPDATE: it waits for running enqueues, which hold FOR KEY SHARE.
SELECT version, revision FROM jobs WHERE id = :job_id AND tenant_id = :tenant_id AND status <> 'DELETED'
FOR UPDATE
