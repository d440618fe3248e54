SELECT job_revisions.* FROM wanted_revision JOIN job_revisions USING (job_id, revision)
