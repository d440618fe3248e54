DELETE FROM dead_letters USING unnest(:wanted.id::uuid[]) AS wanted (id)
WHERE dead_letters.execution_id = wanted.id AND tenant_id = :tenant_id
RETURNING dead_letters.execution_id
