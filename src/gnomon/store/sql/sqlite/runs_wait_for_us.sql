-- One row if there is anything to begin, to end or to ask for.
SELECT 1 AS one
WHERE EXISTS (
    SELECT 1 FROM lanes CROSS JOIN json_each(:priorities) AS level CROSS JOIN queue
    WHERE lanes.kind = :kind AND queue.lane_id = lanes.id AND queue.priority = level.value
      AND queue.waits_for IS NULL AND queue.due <= :now
)
   OR (SELECT until FROM task_holds WHERE until <= :now ORDER BY until LIMIT 1) IS NOT NULL
   OR EXISTS (SELECT 1 FROM backfills WHERE finished_at IS NULL AND status = 'RUNNING')
