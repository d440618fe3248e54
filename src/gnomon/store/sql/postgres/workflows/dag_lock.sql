SELECT id FROM dags WHERE id = :dag_id AND tenant_id = :tenant_id FOR NO KEY UPDATE
