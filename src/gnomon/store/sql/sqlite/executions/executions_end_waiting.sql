INSERT INTO endings (execution_id, tenant_id, outcome, claim, attempts, due, finished_at)
SELECT execution_id, tenant_id, 'CANCELLED', claim, attempts, due, :now FROM queue
WHERE queue.execution_id IN (SELECT id FROM wanted) AND queue.tenant_id = :tenant_id AND coalesce(queue.waits_for, '') <> 'tasks';

INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, tenant_id, 'execution.cancelled', :now, json_group_array(hex(execution_id)) FROM queue
WHERE queue.execution_id IN (SELECT id FROM wanted) AND queue.tenant_id = :tenant_id AND coalesce(queue.waits_for, '') <> 'tasks'
  AND EXISTS (SELECT 1 FROM event_followers) GROUP BY tenant_id;

DELETE FROM unique_keys
WHERE execution_id IN (SELECT execution_id FROM queue WHERE queue.execution_id IN (SELECT id FROM wanted) AND queue.tenant_id = :tenant_id AND coalesce(queue.waits_for, '') <> 'tasks');

-- Those of workflows: see runs_unbegun_add.sql.
SELECT queue.execution_id FROM queue JOIN dags ON dags.id = queue.job_id
WHERE queue.execution_id IN (SELECT id FROM wanted) AND queue.tenant_id = :tenant_id AND coalesce(queue.waits_for, '') <> 'tasks';

DELETE FROM queue WHERE queue.execution_id IN (SELECT id FROM wanted) AND queue.tenant_id = :tenant_id AND coalesce(queue.waits_for, '') <> 'tasks'
