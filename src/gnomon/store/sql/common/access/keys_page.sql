SELECT id, tenant_id, name, secret_hash, scopes, created_at, expires_at, revoked_at,
       created_through, last_used_at
FROM api_keys
WHERE tenant_id = :tenant_id AND id < :after
ORDER BY id DESC
LIMIT :limit
