SELECT current_executions.*
FROM unnest(:wanted.id::uuid[]) AS wanted (id)
JOIN current_executions USING (id)
WHERE tenant_id = :tenant_id
