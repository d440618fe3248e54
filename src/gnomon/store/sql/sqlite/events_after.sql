SELECT batch, position, type, at AS happened_at, subjects FROM events
WHERE (batch, position) >= (:batch, :position) AND tenant_id = :tenant_id
  AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
ORDER BY batch, position
LIMIT :limit
