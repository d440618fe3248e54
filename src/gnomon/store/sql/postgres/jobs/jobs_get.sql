SELECT current_jobs.*
FROM unnest(:wanted.id::uuid[]) WITH ORDINALITY AS wanted (id, place)
JOIN current_jobs USING (id)
WHERE tenant_id = :tenant_id
ORDER BY place
