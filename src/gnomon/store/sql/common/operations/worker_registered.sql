SELECT id AS worker_id, boot, hostname, slots, kinds, queues, capabilities, status, key_id
FROM workers
WHERE id = :worker_id
