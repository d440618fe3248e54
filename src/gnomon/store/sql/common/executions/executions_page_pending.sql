SELECT * FROM current_executions
WHERE tenant_id = :tenant_id AND id < :after AND id >= :first AND (CAST(:any_job AS boolean) OR job_id = :job_id)
  -- A run of a workflow that waits for its tasks is under way.
  AND is_waiting AND (waits_for <> 'tasks' OR waits_for IS NULL AND due > :now)
ORDER BY id DESC
LIMIT :limit
