-- Which claims were settled before, and how: tells a replay from a claim that somebody else ended.
SELECT held.execution_id, held.claim, coalesce(endings.last_attempt, attempts.outcome) AS attempt
FROM held
LEFT JOIN endings ON endings.execution_id = held.execution_id AND endings.claim = held.claim
LEFT JOIN attempts ON attempts.execution_id = held.execution_id AND attempts.claim = held.claim
WHERE endings.last_attempt IS NOT NULL OR attempts.outcome IS NOT NULL
