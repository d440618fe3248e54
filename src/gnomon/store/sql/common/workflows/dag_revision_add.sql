INSERT INTO dag_revisions (dag_id, revision, tenant_id, base, tasks, definition, created_at)
VALUES (:dag_id, :revision, :tenant_id, :base, :tasks, :definition, :now)
