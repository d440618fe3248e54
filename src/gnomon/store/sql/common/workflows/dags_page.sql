SELECT current_jobs.*, dags.revision AS dag_revision
FROM dags JOIN current_jobs ON current_jobs.id = dags.id
WHERE dags.tenant_id = :tenant_id AND dags.id < :after
  AND (CASE WHEN CAST(:status AS text) IS NULL THEN current_jobs.status <> 'DELETED'
            ELSE current_jobs.status = CAST(:status AS text) END)
  AND (CAST(:name_prefix AS text) IS NULL
       OR substr(current_jobs.name, 1, length(CAST(:name_prefix AS text))) = CAST(:name_prefix AS text))
  -- In the words of both databases: it is in the name, if the name without it is another one.
  AND (CAST(:name_contains AS text) IS NULL
       OR replace(current_jobs.name, CAST(:name_contains AS text), '') <> current_jobs.name)
  AND (CAST(:tag AS text) IS NULL OR EXISTS (
      SELECT 1 FROM job_tags
      WHERE job_tags.job_id = dags.id AND job_tags.tag = CAST(:tag AS text)))
ORDER BY dags.id DESC
LIMIT :limit
