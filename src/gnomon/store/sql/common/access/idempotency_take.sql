-- Whoever inserts the key does the work. A second one waits here until the first has committed.
INSERT INTO idempotency_keys (tenant_id, key, fingerprint, answer, created_at)
VALUES (:tenant_id, :key, :fingerprint, :answer, :now)
ON CONFLICT DO NOTHING
RETURNING key
