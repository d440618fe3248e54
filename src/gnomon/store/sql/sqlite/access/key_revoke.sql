INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, tenant_id, 'key.revoked', :now, json_array(hex(id)) FROM api_keys
WHERE id = :key_id AND revoked_at IS NULL;

UPDATE api_keys SET revoked_at = :now WHERE id = :key_id AND revoked_at IS NULL
