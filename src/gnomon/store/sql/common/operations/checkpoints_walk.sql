SELECT checkpoints.execution_id, coalesce(endings.finished_at < :before, FALSE) AS is_spent
FROM checkpoints LEFT JOIN endings ON endings.execution_id = checkpoints.execution_id
WHERE checkpoints.execution_id > :after
ORDER BY checkpoints.execution_id
LIMIT :limit
