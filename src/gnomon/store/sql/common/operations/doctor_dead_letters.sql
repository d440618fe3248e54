SELECT dead_letters.execution_id
FROM dead_letters
LEFT JOIN endings ON endings.execution_id = dead_letters.execution_id
WHERE endings.execution_id IS NULL OR endings.outcome NOT IN ('FAILED', 'TIMEOUT')
LIMIT :limit
