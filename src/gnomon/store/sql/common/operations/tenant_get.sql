SELECT id, name, weight, max_concurrent FROM tenants WHERE id = :tenant_id
