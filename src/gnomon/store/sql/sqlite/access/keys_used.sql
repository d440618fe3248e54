UPDATE api_keys SET last_used_at = used_key.at
FROM used_key
WHERE api_keys.id = used_key.id AND (api_keys.last_used_at IS NULL OR api_keys.last_used_at < used_key.at)
