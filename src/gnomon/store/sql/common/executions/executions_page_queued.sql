SELECT * FROM current_executions
WHERE tenant_id = :tenant_id AND id < :after AND id >= :first AND (CAST(:any_job AS boolean) OR job_id = :job_id)
  AND is_waiting AND waits_for IS NULL AND due <= :now
ORDER BY id DESC
LIMIT :limit
