SELECT id FROM jobs WHERE id IN (SELECT id FROM wanted) AND tenant_id = :tenant_id
