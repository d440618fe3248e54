SELECT id AS dag_run_id FROM dag_runs
WHERE dag_id = :dag_id AND finished_at IS NULL AND ends_as IS NULL ORDER BY id LIMIT :limit
