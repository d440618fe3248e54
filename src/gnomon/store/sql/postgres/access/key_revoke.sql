WITH revoked AS (
    UPDATE api_keys SET revoked_at = :now WHERE id = :key_id AND revoked_at IS NULL
    RETURNING id, tenant_id, revoked_at
)
INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT pg_current_xact_id()::text::bigint, tenant_id, 'key.revoked', revoked_at, ARRAY[id] FROM revoked
