INSERT INTO unique_keys (tenant_id, job_id, unique_key, execution_id)
SELECT :tenant_id, job_id, unique_key, execution_id FROM wanted_key WHERE true
ON CONFLICT DO NOTHING
