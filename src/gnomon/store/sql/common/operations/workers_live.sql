-- Those that take work, with what they can do.
SELECT id AS worker_id, kinds, queues, capabilities
FROM workers
WHERE status = 'ACTIVE' AND last_seen_at > :seen_after
ORDER BY id
LIMIT :limit
