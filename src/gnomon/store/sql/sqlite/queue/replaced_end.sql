@ending('CANCELLED' AS outcome)
FROM queue
WHERE job_id = :job_id AND watched AND coalesce(waits_for, '') <> 'tasks' AND execution_id NOT IN (SELECT id FROM wanted);

@event('execution.cancelled' AS type)
FROM queue
WHERE job_id = :job_id AND watched AND coalesce(waits_for, '') <> 'tasks' AND execution_id NOT IN (SELECT id FROM wanted)
  AND @is_followed GROUP BY tenant_id;

DELETE FROM unique_keys WHERE execution_id IN (
    SELECT execution_id FROM queue
    WHERE job_id = :job_id AND watched AND coalesce(waits_for, '') <> 'tasks' AND execution_id NOT IN (SELECT id FROM wanted));

-- Those of workflows: see runs_unbegun_add.sql.
SELECT execution_id FROM queue
WHERE job_id = :job_id AND watched AND coalesce(waits_for, '') <> 'tasks' AND execution_id NOT IN (SELECT id FROM wanted)
  AND EXISTS (SELECT 1 FROM dags WHERE dags.id = :job_id);

DELETE FROM queue WHERE job_id = :job_id AND watched AND coalesce(waits_for, '') <> 'tasks' AND execution_id NOT IN (SELECT id FROM wanted)
