-- Priorities from high to low; within one, each lane from where this claimer was last, merged by due time.
-- The outer LIMIT stops the loop, so lower priorities are not even looked at once enough is found.
SELECT found.*
FROM unnest(:priorities::smallint[]) AS level (priority)
CROSS JOIN LATERAL (
    SELECT waiting.*
    FROM unnest(:scan.lane_id::integer[], :scan.priority::smallint[], :scan.due::timestamptz[],
                :scan.execution_id::uuid[]) AS scan (lane_id, priority, due, execution_id)
    CROSS JOIN LATERAL (
        SELECT queue.*, queue.ctid AS queue_row FROM queue
        WHERE queue.lane_id = coalesce(scan.lane_id, (:scan.lane_id::integer[])[1])
          AND queue.priority = scan.priority AND queue.waits_for IS NULL
          AND queue.due <= :now
          AND (queue.due, queue.execution_id) > (coalesce(scan.due, '-infinity'), scan.execution_id)
          AND {condition = true}
        ORDER BY queue.due, queue.execution_id
        LIMIT :limit
        FOR UPDATE SKIP LOCKED
    ) AS waiting
    WHERE scan.priority = level.priority
    ORDER BY waiting.due, waiting.execution_id
    LIMIT :limit
) AS found
LIMIT :limit
