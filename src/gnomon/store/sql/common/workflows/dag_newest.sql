SELECT dag_revisions.revision, dag_revisions.base, dag_revisions.tasks
FROM dags JOIN dag_revisions ON dag_revisions.dag_id = dags.id AND dag_revisions.revision = dags.revision
WHERE dags.id = :dag_id AND dags.tenant_id = :tenant_id
