SELECT * FROM current_executions
WHERE tenant_id = :tenant_id AND id < :after AND (CAST(:any_job AS boolean) OR job_id = :job_id)
  AND is_leased
ORDER BY id DESC
LIMIT :limit
