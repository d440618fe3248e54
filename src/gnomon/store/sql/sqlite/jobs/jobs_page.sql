SELECT * FROM current_jobs
WHERE tenant_id = :tenant_id
  AND id < :after
  AND (CASE WHEN CAST(:status AS text) IS NULL THEN status <> 'DELETED' ELSE status = CAST(:status AS text) END)
  -- Workflows are jobs, too; who wants to see them asks for them.
  AND (CASE WHEN CAST(:kind AS text) IS NULL THEN kind <> 'gnomon.dag' ELSE lower(kind) = CAST(:kind AS text) END)
  AND (CAST(:name AS text) IS NULL OR name = CAST(:name AS text))
  AND (CAST(:name_prefix AS text) IS NULL OR substr(name, 1, length(CAST(:name_prefix AS text))) = CAST(:name_prefix AS text))
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
ORDER BY id DESC
LIMIT :limit
