SELECT fingerprint, answer FROM idempotency_keys WHERE tenant_id = :tenant_id AND key = :key
