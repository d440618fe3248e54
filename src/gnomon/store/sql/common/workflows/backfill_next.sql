SELECT nominal_time FROM backfill_times
WHERE backfill_id = :backfill_id AND state = 'WAITING'
ORDER BY nominal_time
LIMIT :limit
