SELECT current_jobs.*, dags.revision AS dag_revision
FROM dags JOIN current_jobs ON current_jobs.id = dags.id
WHERE dags.tenant_id = :tenant_id AND dags.id < :after
  AND (CASE WHEN CAST(:status AS text) IS NULL THEN current_jobs.status <> 'DELETED'
            ELSE current_jobs.status = CAST(:status AS text) END)
  AND (CAST(:tag AS text) IS NULL OR EXISTS (
      SELECT 1 FROM job_tags
      WHERE job_tags.job_id = dags.id AND job_tags.tag = CAST(:tag AS text)))
ORDER BY dags.id DESC
LIMIT :limit
