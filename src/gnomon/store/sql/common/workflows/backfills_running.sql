SELECT id FROM backfills WHERE finished_at IS NULL AND status = 'RUNNING' ORDER BY id LIMIT :limit
