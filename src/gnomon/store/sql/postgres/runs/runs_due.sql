-- Runs that nothing holds but that nobody has begun them, by lane and priority, since the index begins with these.
SELECT found.execution_id, executions.dag_run_id, found.watched
FROM lanes CROSS JOIN unnest(:priorities::smallint[]) AS level (priority)
CROSS JOIN LATERAL (
    SELECT queue.execution_id, queue.priority, queue.due, queue.watched FROM queue
    WHERE queue.lane_id = lanes.id AND queue.priority = level.priority AND queue.waits_for IS NULL
      AND queue.due <= :now
    ORDER BY queue.due, queue.execution_id
    LIMIT :limit
) AS found
JOIN executions ON executions.id = found.execution_id
WHERE lanes.kind = :kind
ORDER BY found.priority DESC, found.due, found.execution_id
LIMIT :limit
