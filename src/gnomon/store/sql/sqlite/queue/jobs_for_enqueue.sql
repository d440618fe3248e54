SELECT jobs.id, jobs.status, jobs.revision, jobs.slots, jobs.watched, jobs.awaited, job_revisions.lane_id,
       job_revisions.priority
FROM wanted
JOIN jobs ON jobs.id = wanted.id AND jobs.tenant_id = :tenant_id
JOIN job_revisions ON job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
