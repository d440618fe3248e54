INSERT INTO unique_keys (tenant_id, job_id, unique_key, execution_id)
SELECT :tenant_id, job_id, unique_key, execution_id
FROM unnest(:wanted_key.job_id::uuid[], :wanted_key.unique_key::text[], :wanted_key.execution_id::uuid[])
     AS wanted_key (job_id, unique_key, execution_id)
ORDER BY job_id, unique_key
ON CONFLICT DO NOTHING
