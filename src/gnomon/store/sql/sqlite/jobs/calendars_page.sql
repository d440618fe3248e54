SELECT name, json_array_length(dates) AS date_count, version, updated_at
FROM calendars
WHERE tenant_id = :tenant_id AND name > :after
ORDER BY name
LIMIT :limit
