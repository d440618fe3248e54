-- From the claims to the leases, as in apply.sql.
WITH held AS MATERIALIZED (
    SELECT lease.execution_id
    FROM unnest(:held.execution_id::uuid[], :held.claim::integer[]) AS held (execution_id, claim)
    CROSS JOIN LATERAL (
        SELECT leases.execution_id FROM leases
        WHERE leases.execution_id = held.execution_id AND leases.claim = held.claim
        FOR NO KEY UPDATE
    ) AS lease
)
UPDATE leases SET lease_until = greatest(leases.lease_until, :lease_until)
WHERE leases.execution_id = ANY (ARRAY(SELECT held.execution_id FROM held))
RETURNING leases.execution_id, leases.claim, leases.cancel_requested
