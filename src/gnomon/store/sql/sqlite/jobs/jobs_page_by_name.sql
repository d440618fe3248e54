-- What jobs_page.sql does, by the index of names: for a name, or for all that begin alike. Reads all of these.
SELECT current_jobs.*
FROM (
    -- With a plus, so that ids are not what it looks by.
    SELECT jobs.id FROM jobs
    WHERE jobs.tenant_id = :tenant_id AND jobs.status <> 'DELETED'
      AND jobs.name >= :name_from AND jobs.name < :name_until AND +jobs.id < :after
) AS named
CROSS JOIN current_jobs ON current_jobs.id = named.id
WHERE (CAST(:status AS text) IS NULL OR status = CAST(:status AS text))
  AND (CASE WHEN CAST(:kind AS text) IS NULL THEN kind <> 'gnomon.dag' ELSE kind = CAST(:kind AS text) END)
  AND (CAST(:name_contains AS text) IS NULL OR instr(name, CAST(:name_contains AS text)) > 0)
  AND (CAST(:tag AS text) IS NULL OR EXISTS (
      SELECT 1 FROM job_tags
      WHERE job_tags.job_id = current_jobs.id AND job_tags.tag = CAST(:tag AS text)))
  AND (CAST(:type AS text) IS NULL OR EXISTS (
      SELECT 1 FROM job_revisions
      WHERE job_revisions.job_id = current_jobs.id AND job_revisions.revision = current_jobs.revision
        AND json_extract(job_revisions.schedule, '$.type') = CAST(:type AS text)))
  AND (CAST(:next_run_after AS timestamptz) IS NULL OR next_run_time > :next_run_after)
  AND (CAST(:next_run_before AS timestamptz) IS NULL OR next_run_time < :next_run_before)
ORDER BY named.id DESC
LIMIT :limit
