SELECT id, tenant_id, name, secret_hash, scopes, created_at, expires_at, revoked_at,
       created_through, last_used_at
FROM api_keys WHERE id = :key_id
