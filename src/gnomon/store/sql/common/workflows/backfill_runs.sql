SELECT nominal_time, state, execution_id FROM backfill_times
WHERE backfill_id = :backfill_id AND tenant_id = :tenant_id AND nominal_time > :after
ORDER BY nominal_time
LIMIT :limit
