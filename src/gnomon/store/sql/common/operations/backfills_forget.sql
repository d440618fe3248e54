DELETE FROM backfills
WHERE finished_at < :before AND NOT EXISTS (
    SELECT 1 FROM backfill_times WHERE backfill_times.backfill_id = backfills.id)
