SELECT id FROM tenants WHERE id = :tenant_id
