SELECT job_revisions.*
FROM unnest(:wanted_revision.job_id::uuid[], :wanted_revision.revision::integer[]) AS wanted (job_id, revision)
JOIN job_revisions USING (job_id, revision)
