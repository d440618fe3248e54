@ending('CANCELLED' AS outcome)
FROM queue
WHERE queue.job_id = :job_id AND queue.tenant_id = :tenant_id
  AND NOT in_run AND coalesce(waits_for, '') <> 'tasks';

@event('execution.cancelled' AS type)
FROM queue
WHERE queue.job_id = :job_id AND queue.tenant_id = :tenant_id
  AND NOT in_run AND coalesce(waits_for, '') <> 'tasks'
  AND @is_followed GROUP BY tenant_id;

DELETE FROM unique_keys
WHERE execution_id IN (SELECT execution_id FROM queue WHERE queue.job_id = :job_id AND queue.tenant_id = :tenant_id
  AND NOT in_run AND coalesce(waits_for, '') <> 'tasks');

-- Those of workflows: see runs_unbegun_add.sql.
SELECT execution_id FROM queue
WHERE queue.job_id = :job_id AND queue.tenant_id = :tenant_id
  AND NOT in_run AND coalesce(waits_for, '') <> 'tasks'
  AND EXISTS (SELECT 1 FROM dags WHERE dags.id = :job_id);

DELETE FROM queue WHERE queue.job_id = :job_id AND queue.tenant_id = :tenant_id
  AND NOT in_run AND coalesce(waits_for, '') <> 'tasks'
