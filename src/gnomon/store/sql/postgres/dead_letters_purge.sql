UPDATE dead_letters SET purged = true
FROM unnest(:wanted.id::uuid[]) AS wanted (id)
WHERE dead_letters.execution_id = wanted.id AND tenant_id = :tenant_id AND NOT purged
RETURNING dead_letters.execution_id
