SELECT execution_id, claim, number, at, level, message, context FROM run_logs
WHERE tenant_id = :tenant_id AND execution_id = :execution_id
  AND (claim, number) > (:after_claim, :after_number)
ORDER BY claim, number
LIMIT :limit
