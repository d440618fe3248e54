INSERT INTO checkpoints (execution_id, tenant_id, claim, state, progress, saved_at)
SELECT leases.execution_id, leases.tenant_id, leases.claim, saved.state, saved.progress, saved.saved_at
FROM saved JOIN leases USING (execution_id, claim)
WHERE true
ON CONFLICT (execution_id) DO UPDATE
SET claim = excluded.claim, state = excluded.state, progress = excluded.progress, saved_at = excluded.saved_at
RETURNING execution_id, claim
