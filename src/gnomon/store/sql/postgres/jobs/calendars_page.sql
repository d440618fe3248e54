SELECT name, jsonb_array_length(dates) AS date_count, version, updated_at
FROM calendars
WHERE tenant_id = :tenant_id AND name COLLATE "C" > :after
ORDER BY name COLLATE "C"
LIMIT :limit
