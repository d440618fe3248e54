SELECT unique_keys.job_id, unique_keys.unique_key, unique_keys.execution_id
FROM unnest(:wanted_key.job_id::uuid[], :wanted_key.unique_key::text[]) AS wanted_key (job_id, unique_key)
JOIN unique_keys USING (job_id, unique_key)
WHERE tenant_id = :tenant_id
