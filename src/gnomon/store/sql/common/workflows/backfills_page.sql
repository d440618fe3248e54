SELECT id FROM backfills
WHERE tenant_id = :tenant_id AND dag_id = :dag_id AND id < :after
ORDER BY id DESC
LIMIT :limit
