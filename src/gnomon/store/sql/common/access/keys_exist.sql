SELECT EXISTS (SELECT 1 FROM api_keys WHERE tenant_id = :tenant_id) AS known
