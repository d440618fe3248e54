SELECT executions.id AS execution_id
FROM executions
LEFT JOIN queue ON queue.execution_id = executions.id
LEFT JOIN leases ON leases.execution_id = executions.id
LEFT JOIN endings ON endings.execution_id = executions.id
WHERE CASE WHEN queue.execution_id IS NULL THEN 0 ELSE 1 END
    + CASE WHEN leases.execution_id IS NULL THEN 0 ELSE 1 END
    + CASE WHEN endings.execution_id IS NULL THEN 0 ELSE 1 END <> 1
LIMIT :limit
