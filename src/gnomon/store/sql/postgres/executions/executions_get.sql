-- One by one: a plan that was made while there were few would read all that a tenant has.
SELECT found.*
FROM unnest(:wanted.id::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT * FROM current_executions
    WHERE current_executions.id = wanted.id AND current_executions.tenant_id = :tenant_id
    LIMIT 1
) AS found
