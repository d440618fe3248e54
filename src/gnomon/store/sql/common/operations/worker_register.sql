INSERT INTO workers (id, tenant_id, boot, hostname, slots, kinds, queues, capabilities, status,
                     registered_at, last_seen_at, key_id)
VALUES (:worker_id, :tenant_id, :boot, :hostname, :slots, :kinds, :queues, :capabilities, 'ACTIVE', :now, :now, :key_id)
ON CONFLICT (id) DO UPDATE
SET boot = excluded.boot, hostname = excluded.hostname, slots = excluded.slots, kinds = excluded.kinds,
    queues = excluded.queues, capabilities = excluded.capabilities, status = excluded.status,
    registered_at = excluded.registered_at, last_seen_at = excluded.last_seen_at, key_id = excluded.key_id
-- A process on the store takes any name. A key takes its own names, for a later start or a name that is not in use,
-- and names of others that are not in use and hold nothing.
WHERE excluded.key_id IS NULL
   OR (workers.key_id = excluded.key_id AND workers.boot <= excluded.boot)
   OR ((workers.status = 'GONE' OR workers.last_seen_at <= :silent_since)
       AND (workers.key_id = excluded.key_id
            OR NOT EXISTS (SELECT 1 FROM leases WHERE leases.worker = workers.id)))
RETURNING id AS worker_id
