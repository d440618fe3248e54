SELECT execution_id FROM backfill_times
WHERE backfill_id = :backfill_id AND state = 'RUNNING'
ORDER BY nominal_time
