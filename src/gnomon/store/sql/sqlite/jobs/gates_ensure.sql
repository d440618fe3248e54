INSERT INTO gates (job_id, tenant_id) SELECT id, :tenant_id FROM wanted WHERE true ON CONFLICT DO NOTHING
