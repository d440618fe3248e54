DELETE FROM dead_letters WHERE execution_id IN (SELECT id FROM wanted) AND tenant_id = :tenant_id
RETURNING execution_id
