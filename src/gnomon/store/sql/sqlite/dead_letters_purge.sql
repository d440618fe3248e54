UPDATE dead_letters SET purged = 1
WHERE execution_id IN (SELECT id FROM wanted) AND tenant_id = :tenant_id AND NOT purged
RETURNING execution_id
