SELECT * FROM dag_revisions WHERE dag_id = :dag_id AND tenant_id = :tenant_id AND revision = :revision
