SELECT id AS worker_id, boot, hostname, slots, kinds, queues, capabilities, status, registered_at, last_seen_at,
       key_id,
       (SELECT count(*) FROM leases WHERE leases.worker = workers.id) AS running
FROM workers
WHERE id > :after
ORDER BY id
LIMIT :limit
