UPDATE leases SET lease_until = greatest(leases.lease_until, :lease_until)
FROM unnest(:held.execution_id::uuid[], :held.claim::integer[]) AS held (execution_id, claim)
WHERE leases.execution_id = held.execution_id AND leases.claim = held.claim
RETURNING leases.execution_id, leases.claim, leases.cancel_requested
