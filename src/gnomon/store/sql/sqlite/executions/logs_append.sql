INSERT INTO run_logs (execution_id, claim, number, tenant_id, at, level, message, context)
SELECT line.execution_id, line.claim, number, tenant_id, at, level, message, context
FROM line JOIN leases USING (execution_id, claim)
WHERE true
ON CONFLICT DO NOTHING;

SELECT DISTINCT line.execution_id, line.claim FROM line JOIN leases USING (execution_id, claim)
