SELECT jobs.id AS job_id
FROM jobs
LEFT JOIN job_revisions ON job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
WHERE job_revisions.job_id IS NULL
LIMIT :limit
