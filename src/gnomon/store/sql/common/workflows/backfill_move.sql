UPDATE backfills SET status = :status, finished_at = :finished_at WHERE id = :backfill_id
