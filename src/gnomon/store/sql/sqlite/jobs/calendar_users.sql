SELECT jobs.name
FROM job_revisions JOIN jobs ON jobs.id = job_revisions.job_id AND jobs.revision = job_revisions.revision
WHERE job_revisions.tenant_id = :tenant_id AND json_extract(job_revisions.schedule, '$.calendar') = :name
  AND jobs.status IN ('ACTIVE', 'PAUSED')
ORDER BY jobs.name
LIMIT :limit
