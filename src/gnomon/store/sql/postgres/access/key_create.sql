WITH made AS (
    INSERT INTO api_keys (id, tenant_id, name, secret_hash, scopes, created_at, expires_at, created_through)
    VALUES (:key_id, :tenant_id, :name, :secret_hash, :scopes, :created_at, :expires_at, :created_through)
    RETURNING id, tenant_id, created_at
)
@event('key.created' AS type, created_at AS at, ARRAY[id] AS subjects)
FROM made
