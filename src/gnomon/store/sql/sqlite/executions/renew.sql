UPDATE leases SET lease_until = max(leases.lease_until, :lease_until)
FROM held
WHERE leases.execution_id = held.execution_id AND leases.claim = held.claim
RETURNING execution_id, claim, cancel_requested
