-- Of each lane, how many are due, counted up to a limit, and one of the first: seeks by lane and priority.
SELECT lane.value AS lane_id,
       (SELECT count(*) FROM (
            SELECT 1 FROM json_each(:priorities) AS level CROSS JOIN queue
            WHERE queue.lane_id = lane.value AND queue.priority = level.value AND queue.waits_for IS NULL
              AND queue.due <= :before
            LIMIT :limit)) AS count,
       (SELECT queue.execution_id FROM json_each(:priorities) AS level CROSS JOIN queue
        WHERE queue.lane_id = lane.value AND queue.priority = level.value AND queue.waits_for IS NULL
          AND queue.due <= :before
        LIMIT 1) AS execution_id
FROM json_each(:lane_ids) AS lane
