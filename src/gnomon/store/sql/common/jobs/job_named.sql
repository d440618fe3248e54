SELECT * FROM current_jobs WHERE tenant_id = :tenant_id AND name = :name AND status <> 'DELETED'
