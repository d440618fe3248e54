WITH line AS (
    SELECT * FROM unnest(
        :line.execution_id::uuid[], :line.claim::integer[], :line.number::integer[],
        :line.at::timestamptz[], :line.level::text[], :line.message::text[], :line.context::json[]
    ) AS line (execution_id, claim, number, at, level, message, context)
), held AS MATERIALIZED (
    -- From the claims to the leases, as in apply.sql.
    SELECT claimed.execution_id, claimed.claim, lease.tenant_id
    FROM (SELECT DISTINCT execution_id, claim FROM line ORDER BY execution_id, claim) AS claimed
    CROSS JOIN LATERAL (
        SELECT leases.tenant_id FROM leases
        WHERE leases.execution_id = claimed.execution_id AND leases.claim = claimed.claim
        FOR SHARE
    ) AS lease
), kept AS (
    INSERT INTO run_logs (execution_id, claim, number, tenant_id, at, level, message, context)
    SELECT line.execution_id, line.claim, number, tenant_id, at, level, message, context
    FROM line JOIN held USING (execution_id, claim)
    ON CONFLICT DO NOTHING
)
SELECT execution_id, claim FROM held
