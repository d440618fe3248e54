-- Fails if this very request has been here before, also when nothing is left to pick: then its claims are read,
-- not made. One whose first try may not have committed yet waits for it at the key.
INSERT INTO claim_requests (request_id, tenant_id, worker, claimed_at)
SELECT :request_id, tenant_id, :worker, :now FROM (
    SELECT tenant_id FROM picked
    UNION ALL
    SELECT tenant_id FROM claim_requests WHERE request_id = :request_id
    UNION ALL
    SELECT id FROM tenants WHERE id = :default_tenant AND :is_repeat
) AS some_row
LIMIT 1
