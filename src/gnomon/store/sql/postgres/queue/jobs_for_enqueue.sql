-- FOR KEY SHARE lets schedulers fire meanwhile, but a cancel or delete waits until we have committed.
SELECT jobs.id, jobs.status, jobs.revision, jobs.slots, jobs.watched, jobs.awaited, job_revisions.lane_id,
       job_revisions.priority
FROM unnest(:wanted.id::uuid[]) AS wanted (id)
JOIN jobs ON jobs.id = wanted.id AND jobs.tenant_id = :tenant_id
JOIN job_revisions ON job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
FOR KEY SHARE OF jobs
