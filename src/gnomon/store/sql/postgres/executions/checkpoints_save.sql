INSERT INTO checkpoints (execution_id, tenant_id, claim, state, progress, saved_at)
SELECT saved.execution_id, lease.tenant_id, saved.claim, saved.state, saved.progress, saved.saved_at
FROM unnest(:saved.execution_id::uuid[], :saved.claim::integer[], :saved.state::json[],
            :saved.progress::float8[], :saved.saved_at::timestamptz[])
     AS saved (execution_id, claim, state, progress, saved_at)
-- The lock makes the fence: while we write, nobody can end the claim. From the claims to the leases, as in
-- apply.sql.
CROSS JOIN LATERAL (
    SELECT leases.tenant_id FROM leases
    WHERE leases.execution_id = saved.execution_id AND leases.claim = saved.claim
    FOR SHARE
) AS lease
ON CONFLICT (execution_id) DO UPDATE
SET claim = excluded.claim, state = excluded.state, progress = excluded.progress, saved_at = excluded.saved_at
RETURNING execution_id, claim
