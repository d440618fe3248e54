SELECT queue.execution_id, executions.dag_run_id, queue.watched
FROM lanes
CROSS JOIN queue ON queue.lane_id = lanes.id
JOIN executions ON executions.id = queue.execution_id
WHERE lanes.kind = :kind AND queue.waits_for IS NULL AND queue.due <= :now
ORDER BY queue.priority DESC, queue.due, queue.execution_id
LIMIT :limit
