UPDATE backfill_times SET state = 'CANCELLED' WHERE backfill_id = :backfill_id AND state = 'WAITING'
