-- One row if there is anything to begin, to end or to ask for.
SELECT 1 AS one
WHERE EXISTS (
    SELECT 1 FROM lanes CROSS JOIN unnest(:priorities::smallint[]) AS level (priority)
    CROSS JOIN LATERAL (
        SELECT queue.due FROM queue
        WHERE queue.lane_id = lanes.id AND queue.priority = level.priority AND queue.waits_for IS NULL
        ORDER BY queue.due
        LIMIT 1
    ) AS first
    WHERE lanes.kind = :kind AND first.due <= :now
)
   OR (SELECT until FROM task_holds WHERE until <= :now ORDER BY until LIMIT 1) IS NOT NULL
   OR EXISTS (SELECT 1 FROM backfills WHERE finished_at IS NULL AND status = 'RUNNING')
