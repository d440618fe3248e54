WITH made AS (
    INSERT INTO api_keys (id, tenant_id, name, secret_hash, scopes, created_at, expires_at, created_through)
    VALUES (:key_id, :tenant_id, :name, :secret_hash, :scopes, :created_at, :expires_at, :created_through)
    RETURNING id, tenant_id, created_at
)
INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT pg_current_xact_id()::text::bigint, tenant_id, 'key.created', created_at, ARRAY[id] FROM made
