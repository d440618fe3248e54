SELECT id FROM backfills
WHERE finished_at IS NULL AND status = 'RUNNING' AND dag_id = ANY (:wanted.id::uuid[])
ORDER BY id
