SELECT batch, position, type, at AS happened_at, subjects, nominal_times FROM events
WHERE position >= :position AND tenant_id = :tenant_id
  AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
ORDER BY position
LIMIT :limit
