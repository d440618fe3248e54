UPDATE api_keys SET revoked_at = coalesce(revoked_at, :now)
WHERE tenant_id = :tenant_id AND id = :key_id
RETURNING id, tenant_id, name, secret_hash, scopes, created_at, expires_at, revoked_at
