-- Whether there is anything to begin, to end or to ask for, and when there will be.
WITH in_lanes AS (
    SELECT first.due, next.due AS next_due
    FROM lanes CROSS JOIN unnest(:priorities::smallint[]) AS level (priority)
    LEFT JOIN LATERAL (
        SELECT queue.due FROM queue
        WHERE queue.lane_id = lanes.id AND queue.priority = level.priority AND queue.waits_for IS NULL
        ORDER BY queue.due
        LIMIT 1
    ) AS first ON true
    LEFT JOIN LATERAL (
        SELECT queue.due FROM queue
        WHERE queue.lane_id = lanes.id AND queue.priority = level.priority AND queue.waits_for IS NULL
          AND queue.due > :now
        ORDER BY queue.due
        LIMIT 1
    ) AS next ON true
    WHERE lanes.kind = :kind
)
SELECT coalesce((SELECT min(in_lanes.due) FROM in_lanes) <= :now, false)
       OR (SELECT until FROM task_holds WHERE until <= :now ORDER BY until LIMIT 1) IS NOT NULL
       OR EXISTS (SELECT 1 FROM backfills WHERE finished_at IS NULL AND status = 'RUNNING') AS is_due,
       least((SELECT min(in_lanes.next_due) FROM in_lanes),
             (SELECT until FROM task_holds WHERE until > :now ORDER BY until LIMIT 1)) AS due
