SELECT id FROM backfills
WHERE finished_at IS NULL AND status = 'RUNNING' AND dag_id IN (SELECT wanted.id FROM wanted)
ORDER BY id
