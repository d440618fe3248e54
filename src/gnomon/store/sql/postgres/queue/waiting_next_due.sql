-- One seek per lane and priority, and the suspects, which are few.
SELECT min(due) AS due FROM (
    SELECT first.due
    FROM unnest(:lane_ids::integer[]) AS lane (id) CROSS JOIN unnest(:priorities::smallint[]) AS level (priority)
    CROSS JOIN LATERAL (
        SELECT queue.due FROM queue
        WHERE queue.lane_id = lane.id AND queue.priority = level.priority AND queue.waits_for IS NULL
          AND queue.due > :after
        ORDER BY queue.due
        LIMIT 1
    ) AS first
    UNION ALL
    SELECT queue.due FROM queue
    WHERE queue.waits_for = 'empty_worker' AND queue.lane_id = ANY (:lane_ids::integer[]) AND queue.due > :after
) AS firsts
