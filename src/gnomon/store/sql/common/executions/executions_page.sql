SELECT * FROM current_executions
WHERE tenant_id = :tenant_id AND id < :after AND id >= :first AND (CAST(:outcome AS text) IS NULL OR outcome = CAST(:outcome AS text))
ORDER BY id DESC
LIMIT :limit
