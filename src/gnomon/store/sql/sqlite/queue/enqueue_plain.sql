INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, due, created_at, input)
SELECT execution_id, :tenant_id, jobs.id, jobs.revision, asked.trigger,
       coalesce(asked.priority, job_revisions.priority), asked.due, :now, asked.input
FROM jobs
JOIN job_revisions ON job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
CROSS JOIN asked
WHERE jobs.id = :job_id AND jobs.tenant_id = :tenant_id AND jobs.slots IS NULL
  AND jobs.status NOT IN ('CANCELLED', 'DELETED');

INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, watched, awaited)
SELECT execution_id, :tenant_id, jobs.id, jobs.revision, job_revisions.lane_id,
       coalesce(asked.priority, job_revisions.priority), asked.due, jobs.watched, jobs.awaited
FROM jobs
JOIN job_revisions ON job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
CROSS JOIN asked
WHERE jobs.id = :job_id AND jobs.tenant_id = :tenant_id AND jobs.slots IS NULL
  AND jobs.status NOT IN ('CANCELLED', 'DELETED');

INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, :tenant_id, 'execution.created', :now, json_group_array(hex(execution_id))
FROM asked
WHERE EXISTS (SELECT 1 FROM event_followers) AND EXISTS (
    SELECT 1 FROM jobs WHERE jobs.id = :job_id AND jobs.tenant_id = :tenant_id AND jobs.slots IS NULL
      AND jobs.status NOT IN ('CANCELLED', 'DELETED'))
GROUP BY NULL;

SELECT id FROM jobs
WHERE id = :job_id AND tenant_id = :tenant_id AND slots IS NULL AND status NOT IN ('CANCELLED', 'DELETED')
