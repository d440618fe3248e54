SELECT live.execution_id
FROM (SELECT execution_id FROM queue UNION ALL SELECT execution_id FROM leases) AS live
LEFT JOIN executions ON executions.id = live.execution_id
WHERE executions.id IS NULL
LIMIT :limit
