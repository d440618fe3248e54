-- One seek per lane and priority.
SELECT min(first.due) AS due
FROM unnest(:lane_ids::integer[]) AS lane (id) CROSS JOIN unnest(:priorities::smallint[]) AS level (priority)
CROSS JOIN LATERAL (
    SELECT queue.due FROM queue
    WHERE queue.lane_id = lane.id AND queue.priority = level.priority AND queue.waits_for IS NULL
      AND queue.due > :after
    ORDER BY queue.due
    LIMIT 1
) AS first
