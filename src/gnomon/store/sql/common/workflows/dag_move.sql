UPDATE dags SET revision = :revision WHERE id = :dag_id
