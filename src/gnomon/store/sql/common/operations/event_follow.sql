INSERT INTO event_followers (tenant_id, seen_at) VALUES (:tenant_id, :now)
ON CONFLICT (tenant_id) DO UPDATE SET seen_at = excluded.seen_at
