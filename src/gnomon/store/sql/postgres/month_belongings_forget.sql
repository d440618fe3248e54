-- What belongs to the executions of a month and lies in tables without months.
WITH letters AS (
    DELETE FROM dead_letters WHERE execution_id IN (
        SELECT execution_id FROM dead_letters WHERE execution_id >= :first AND execution_id < :end
        ORDER BY execution_id LIMIT :limit)
    RETURNING 1
), points AS (
    DELETE FROM checkpoints WHERE execution_id IN (
        SELECT execution_id FROM checkpoints WHERE execution_id >= :first AND execution_id < :end
        ORDER BY execution_id LIMIT :limit)
    RETURNING 1
)
SELECT (SELECT count(*) FROM letters) AS letters, (SELECT count(*) FROM points) AS points
