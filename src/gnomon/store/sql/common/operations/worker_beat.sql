UPDATE workers SET last_seen_at = :now, slots = coalesce(:slots, slots)
WHERE id = :worker_id AND boot = :boot AND status <> 'GONE'
RETURNING id AS worker_id, boot, hostname, slots, kinds, queues, capabilities, status, registered_at, last_seen_at,
          key_id,
          (SELECT count(*) FROM leases WHERE leases.worker = workers.id) AS running
