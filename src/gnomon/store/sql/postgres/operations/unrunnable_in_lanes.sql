-- Of each lane, how many are due, counted up to a limit, and one of the first: seeks by lane and priority.
SELECT lane.id AS lane_id, found.count, found.execution_id
FROM unnest(:lane_ids::integer[]) AS lane (id)
CROSS JOIN LATERAL (
    SELECT count(*) AS count, (array_agg(due.execution_id))[1] AS execution_id
    FROM (
        SELECT one.execution_id
        FROM unnest(:priorities::smallint[]) AS level (priority)
        CROSS JOIN LATERAL (
            SELECT queue.execution_id FROM queue
            WHERE queue.lane_id = lane.id AND queue.priority = level.priority AND queue.waits_for IS NULL
              AND queue.due <= :before
            ORDER BY queue.due
            LIMIT :limit
        ) AS one
        LIMIT :limit
    ) AS due
) AS found
WHERE found.count > 0
