SELECT * FROM backfills WHERE id = :backfill_id AND finished_at IS NULL
