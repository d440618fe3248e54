SELECT id FROM dag_runs WHERE finished_at IS NULL AND id > :after ORDER BY id LIMIT :limit
