SELECT jobs.id AS dag_id, jobs.revision AS base
FROM jobs JOIN dags ON dags.id = jobs.id
WHERE jobs.tenant_id = :tenant_id AND jobs.name = :name AND jobs.status NOT IN ('CANCELLED', 'DELETED')
