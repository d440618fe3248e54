SELECT id FROM dag_runs WHERE outer_run_id = :run_id AND finished_at IS NULL ORDER BY id
