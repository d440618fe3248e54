-- In the order of ids, so that two nodes cannot wait for each other.
WITH found AS MATERIALIZED (
    SELECT api_keys.id, used.at
    FROM unnest(:used_key.id::uuid[], :used_key.at::timestamptz[]) AS used (id, at)
    JOIN api_keys ON api_keys.id = used.id
    WHERE api_keys.last_used_at IS NULL OR api_keys.last_used_at < used.at
    ORDER BY api_keys.id
    FOR NO KEY UPDATE OF api_keys
)
UPDATE api_keys SET last_used_at = greatest(api_keys.last_used_at, found.at)
FROM found WHERE api_keys.id = found.id
