INSERT INTO dags (id, tenant_id, revision) VALUES (:dag_id, :tenant_id, 1)
