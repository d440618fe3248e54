WITH saved AS (
    SELECT * FROM unnest(:saved.execution_id::uuid[], :saved.claim::integer[], :saved.state::json[],
                         :saved.progress::float8[], :saved.saved_at::timestamptz[])
           AS saved (execution_id, claim, state, progress, saved_at)
)
INSERT INTO checkpoints (execution_id, tenant_id, claim, state, progress, saved_at)
SELECT leases.execution_id, leases.tenant_id, leases.claim, saved.state, saved.progress, saved.saved_at
FROM saved JOIN leases USING (execution_id, claim)
-- The lock makes the fence: while we write, nobody can end the claim.
FOR SHARE OF leases
ON CONFLICT (execution_id) DO UPDATE
SET claim = excluded.claim, state = excluded.state, progress = excluded.progress, saved_at = excluded.saved_at
RETURNING execution_id, claim
