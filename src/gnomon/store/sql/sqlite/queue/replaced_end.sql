INSERT INTO endings (execution_id, tenant_id, outcome, claim, attempts, due, finished_at)
SELECT execution_id, tenant_id, 'CANCELLED', claim, attempts, due, :now FROM queue
WHERE job_id = :job_id AND watched AND coalesce(waits_for, '') <> 'tasks' AND execution_id NOT IN (SELECT id FROM wanted);

INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, tenant_id, 'execution.cancelled', :now, json_group_array(hex(execution_id)) FROM queue
WHERE job_id = :job_id AND watched AND coalesce(waits_for, '') <> 'tasks' AND execution_id NOT IN (SELECT id FROM wanted)
  AND EXISTS (SELECT 1 FROM event_followers) GROUP BY tenant_id;

DELETE FROM unique_keys WHERE execution_id IN (
    SELECT execution_id FROM queue
    WHERE job_id = :job_id AND watched AND coalesce(waits_for, '') <> 'tasks' AND execution_id NOT IN (SELECT id FROM wanted));

-- Those of workflows: see runs_unbegun_add.sql.
SELECT execution_id FROM queue
WHERE job_id = :job_id AND watched AND coalesce(waits_for, '') <> 'tasks' AND execution_id NOT IN (SELECT id FROM wanted)
  AND EXISTS (SELECT 1 FROM dags WHERE dags.id = :job_id);

DELETE FROM queue WHERE job_id = :job_id AND watched AND coalesce(waits_for, '') <> 'tasks' AND execution_id NOT IN (SELECT id FROM wanted)
