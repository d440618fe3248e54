-- One seek per lane and priority, and the suspects, which are few.
SELECT min(due) AS due FROM (
    SELECT (
        SELECT queue.due FROM queue
        WHERE queue.lane_id = lane.value AND queue.priority = level.value AND queue.waits_for IS NULL
          AND queue.due > :after
        ORDER BY queue.due
        LIMIT 1
    ) AS due
    FROM json_each(:lane_ids) AS lane CROSS JOIN json_each(:priorities) AS level
    UNION ALL
    SELECT queue.due FROM queue
    WHERE queue.waits_for = 'empty_worker' AND queue.lane_id IN (SELECT value FROM json_each(:lane_ids))
      AND queue.due > :after
) AS firsts
