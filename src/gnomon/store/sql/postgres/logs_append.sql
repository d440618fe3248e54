WITH line AS (
    SELECT * FROM unnest(
        :line.execution_id::uuid[], :line.claim::integer[], :line.number::integer[],
        :line.at::timestamptz[], :line.level::text[], :line.message::text[], :line.context::json[]
    ) AS line (execution_id, claim, number, at, level, message, context)
), held AS MATERIALIZED (
    SELECT leases.execution_id, leases.claim, leases.tenant_id FROM leases
    WHERE (execution_id, claim) IN (SELECT execution_id, claim FROM line)
    FOR SHARE
), kept AS (
    INSERT INTO run_logs (execution_id, claim, number, tenant_id, at, level, message, context)
    SELECT line.execution_id, line.claim, number, tenant_id, at, level, message, context
    FROM line JOIN held USING (execution_id, claim)
    ON CONFLICT DO NOTHING
)
SELECT execution_id, claim FROM held
