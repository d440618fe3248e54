SELECT queue.execution_id
FROM queue
LEFT JOIN lanes ON lanes.id = queue.lane_id
WHERE lanes.id IS NULL
LIMIT :limit
