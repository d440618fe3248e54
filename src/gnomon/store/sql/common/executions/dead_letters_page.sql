SELECT * FROM dead_letters
WHERE tenant_id = :tenant_id AND execution_id < :after
ORDER BY execution_id DESC
LIMIT :limit
