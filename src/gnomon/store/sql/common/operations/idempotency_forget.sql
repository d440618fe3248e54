DELETE FROM idempotency_keys WHERE (tenant_id, key) IN (
    SELECT tenant_id, key FROM idempotency_keys WHERE created_at < :before ORDER BY created_at LIMIT :limit)
RETURNING key
