SELECT unique_keys.job_id, unique_keys.unique_key, unique_keys.execution_id
FROM wanted_key JOIN unique_keys USING (job_id, unique_key)
WHERE tenant_id = :tenant_id
