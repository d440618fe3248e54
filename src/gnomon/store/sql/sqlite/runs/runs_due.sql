-- Runs that nothing holds but that nobody has begun them, by lane and priority, since the index begins with these.
SELECT queue.execution_id, executions.dag_run_id, queue.watched
FROM lanes CROSS JOIN json_each(:priorities) AS level CROSS JOIN queue
JOIN executions ON executions.id = queue.execution_id
WHERE lanes.kind = :kind AND queue.lane_id = lanes.id AND queue.priority = level.value
  AND queue.waits_for IS NULL AND queue.due <= :now
ORDER BY queue.priority DESC, queue.due, queue.execution_id
LIMIT :limit
