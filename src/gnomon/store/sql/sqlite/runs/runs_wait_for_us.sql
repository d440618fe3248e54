-- Whether there is anything to begin, to end or to ask for, and when there will be.
SELECT EXISTS (
    SELECT 1 FROM lanes CROSS JOIN json_each(:priorities) AS level CROSS JOIN queue
    WHERE lanes.kind = :kind AND queue.lane_id = lanes.id AND queue.priority = level.value
      AND queue.waits_for IS NULL AND queue.due <= :now
)
   OR (SELECT until FROM task_holds WHERE until <= :now ORDER BY until LIMIT 1) IS NOT NULL
   OR EXISTS (SELECT 1 FROM backfills WHERE finished_at IS NULL AND status = 'RUNNING') AS is_due,
       (SELECT min(at) FROM (
            SELECT (
                SELECT queue.due FROM queue
                WHERE queue.lane_id = lanes.id AND queue.priority = level.value
                  AND queue.waits_for IS NULL AND queue.due > :now
                ORDER BY queue.due
                LIMIT 1
            ) AS at
            FROM lanes CROSS JOIN json_each(:priorities) AS level
            WHERE lanes.kind = :kind
            UNION ALL
            SELECT (SELECT until FROM task_holds WHERE until > :now ORDER BY until LIMIT 1)
        ) AS firsts) AS due
