SELECT current_jobs.*, dags.revision AS dag_revision
FROM dags JOIN current_jobs ON current_jobs.id = dags.id
WHERE dags.id = :dag_id AND dags.tenant_id = :tenant_id
