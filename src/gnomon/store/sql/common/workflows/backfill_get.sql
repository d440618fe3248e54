SELECT backfills.*, times.waiting, times.running, times.completed, times.failed, times.cancelled
FROM backfills CROSS JOIN (
    SELECT count(CASE WHEN state = 'WAITING' THEN 1 END) AS waiting,
           count(CASE WHEN state = 'RUNNING' THEN 1 END) AS running,
           count(CASE WHEN state = 'COMPLETED' THEN 1 END) AS completed,
           count(CASE WHEN state = 'FAILED' THEN 1 END) AS failed,
           count(CASE WHEN state = 'CANCELLED' THEN 1 END) AS cancelled
    FROM backfill_times WHERE backfill_id = :backfill_id
) AS times
WHERE backfills.id = :backfill_id AND backfills.tenant_id = :tenant_id
