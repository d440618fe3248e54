DELETE FROM backfill_times WHERE (backfill_id, nominal_time) IN (
    SELECT past.backfill_id, past.nominal_time
    FROM backfills JOIN backfill_times AS past ON past.backfill_id = backfills.id
    WHERE backfills.finished_at < :before
    LIMIT :limit)
RETURNING nominal_time
