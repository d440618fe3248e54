SELECT current_jobs.*
FROM wanted
JOIN current_jobs USING (id)
WHERE tenant_id = :tenant_id
ORDER BY wanted.rowid
