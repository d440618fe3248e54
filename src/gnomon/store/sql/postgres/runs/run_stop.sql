-- In the order of ids, so that a batch of a worker and this one cannot wait for each other.
WITH found AS MATERIALIZED (
    SELECT leases.execution_id
    FROM leases JOIN executions ON executions.id = leases.execution_id
    WHERE executions.dag_run_id = :run_id AND leases.in_run AND NOT leases.cancel_requested
    ORDER BY leases.execution_id
    FOR NO KEY UPDATE OF leases
)
UPDATE leases SET cancel_requested = true FROM found WHERE leases.execution_id = found.execution_id
RETURNING leases.execution_id
