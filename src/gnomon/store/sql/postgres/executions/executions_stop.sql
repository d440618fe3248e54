-- From the ids to the leases, as in apply.sql.
WITH found AS MATERIALIZED (
    SELECT lease.execution_id FROM unnest(:wanted.id::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT leases.execution_id FROM leases
        WHERE leases.execution_id = wanted.id AND leases.tenant_id = :tenant_id
        FOR NO KEY UPDATE
    ) AS lease
)
UPDATE leases SET cancel_requested = true
WHERE leases.execution_id = ANY (ARRAY(SELECT found.execution_id FROM found))
