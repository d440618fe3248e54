INSERT INTO gates (job_id, tenant_id)
SELECT id, :tenant_id FROM unnest(:wanted.id::uuid[]) AS wanted (id)
ORDER BY id
ON CONFLICT DO NOTHING
