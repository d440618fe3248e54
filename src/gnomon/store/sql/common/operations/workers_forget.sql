-- Once more outside: a worker that beats at this moment stays.
DELETE FROM workers WHERE last_seen_at < :before AND id IN (
    SELECT id FROM workers WHERE last_seen_at < :before ORDER BY last_seen_at LIMIT :limit)
RETURNING id AS worker_id
