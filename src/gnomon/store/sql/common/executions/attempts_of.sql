SELECT execution_id, claim, worker, outcome, failure_kind, failure_message, started_at, finished_at
FROM attempts WHERE tenant_id = :tenant_id AND execution_id = :execution_id
UNION ALL
SELECT execution_id, claim, worker, last_attempt, failure_kind, failure_message, started_at, finished_at
FROM endings WHERE tenant_id = :tenant_id AND execution_id = :execution_id AND last_attempt IS NOT NULL
ORDER BY claim
