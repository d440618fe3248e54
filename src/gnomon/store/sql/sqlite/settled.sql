-- Which claims were settled before, and how: tells a replay from a claim that somebody else ended.
SELECT held.execution_id, held.claim, coalesce(executions.last_attempt, attempts.outcome) AS attempt
FROM held
LEFT JOIN executions ON executions.id = held.execution_id AND executions.claim = held.claim
LEFT JOIN attempts ON attempts.execution_id = held.execution_id AND attempts.claim = held.claim
WHERE executions.last_attempt IS NOT NULL OR attempts.outcome IS NOT NULL
