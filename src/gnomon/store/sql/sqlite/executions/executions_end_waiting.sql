@ending('CANCELLED' AS outcome)
FROM queue
WHERE queue.execution_id IN (SELECT id FROM wanted) AND queue.tenant_id = :tenant_id AND coalesce(queue.waits_for, '') <> 'tasks';

@event('execution.cancelled' AS type)
FROM queue
WHERE queue.execution_id IN (SELECT id FROM wanted) AND queue.tenant_id = :tenant_id AND coalesce(queue.waits_for, '') <> 'tasks'
  AND @is_followed GROUP BY tenant_id;

DELETE FROM unique_keys
WHERE execution_id IN (SELECT execution_id FROM queue WHERE queue.execution_id IN (SELECT id FROM wanted) AND queue.tenant_id = :tenant_id AND coalesce(queue.waits_for, '') <> 'tasks');

-- Those of workflows: see runs_unbegun_add.sql.
SELECT queue.execution_id FROM queue JOIN dags ON dags.id = queue.job_id
WHERE queue.execution_id IN (SELECT id FROM wanted) AND queue.tenant_id = :tenant_id AND coalesce(queue.waits_for, '') <> 'tasks';

DELETE FROM queue WHERE queue.execution_id IN (SELECT id FROM wanted) AND queue.tenant_id = :tenant_id AND coalesce(queue.waits_for, '') <> 'tasks'
