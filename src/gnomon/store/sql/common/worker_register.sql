INSERT INTO workers (id, tenant_id, boot, hostname, slots, kinds, queues, capabilities, status,
                     registered_at, last_seen_at)
VALUES (:worker_id, :tenant_id, :boot, :hostname, :slots, :kinds, :queues, :capabilities, 'ACTIVE', :now, :now)
ON CONFLICT (id) DO UPDATE
SET boot = excluded.boot, hostname = excluded.hostname, slots = excluded.slots, kinds = excluded.kinds,
    queues = excluded.queues, capabilities = excluded.capabilities, status = excluded.status,
    registered_at = excluded.registered_at, last_seen_at = excluded.last_seen_at
