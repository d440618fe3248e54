UPDATE idempotency_keys SET answer = :answer WHERE tenant_id = :tenant_id AND key = :key
