@event('key.revoked' AS type, json_array(hex(id)) AS subjects)
FROM api_keys
WHERE id = :key_id AND revoked_at IS NULL;

UPDATE api_keys SET revoked_at = :now WHERE id = :key_id AND revoked_at IS NULL
