@execution(:tenant_id AS tenant_id, jobs.id AS job_id, jobs.revision AS revision, asked.trigger AS trigger,
           coalesce(asked.priority, job_revisions.priority) AS priority, asked.due AS due, asked.input AS input)
FROM jobs
JOIN job_revisions ON job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
CROSS JOIN asked
WHERE jobs.id = :job_id AND jobs.tenant_id = :tenant_id AND jobs.slots IS NULL
  AND jobs.status NOT IN ('CANCELLED', 'DELETED');

@waiting(:tenant_id AS tenant_id, jobs.id AS job_id, jobs.revision AS revision,
         job_revisions.lane_id AS lane_id, coalesce(asked.priority, job_revisions.priority) AS priority,
         asked.due AS due, jobs.watched AS watched, jobs.awaited AS awaited)
FROM jobs
JOIN job_revisions ON job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
CROSS JOIN asked
WHERE jobs.id = :job_id AND jobs.tenant_id = :tenant_id AND jobs.slots IS NULL
  AND jobs.status NOT IN ('CANCELLED', 'DELETED');

@event(:tenant_id AS tenant_id, 'execution.created' AS type)
FROM asked
WHERE @is_followed AND EXISTS (
    SELECT 1 FROM jobs WHERE jobs.id = :job_id AND jobs.tenant_id = :tenant_id AND jobs.slots IS NULL
      AND jobs.status NOT IN ('CANCELLED', 'DELETED'))
GROUP BY NULL;

SELECT id FROM jobs
WHERE id = :job_id AND tenant_id = :tenant_id AND slots IS NULL AND status NOT IN ('CANCELLED', 'DELETED')
