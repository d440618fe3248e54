WITH revoked AS (
    UPDATE api_keys SET revoked_at = :now WHERE id = :key_id AND revoked_at IS NULL
    RETURNING id, tenant_id, revoked_at
)
@event('key.revoked' AS type, revoked_at AS at, ARRAY[id] AS subjects)
FROM revoked
