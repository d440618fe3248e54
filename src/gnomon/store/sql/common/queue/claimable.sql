-- One seek per lane and priority, whoever the lane fits: there are new lanes, too, that no process has read.
WITH priorities (priority) AS (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))
SELECT EXISTS (
    SELECT 1 FROM lanes CROSS JOIN priorities
    WHERE EXISTS (
        SELECT 1 FROM queue
        WHERE queue.lane_id = lanes.id AND queue.priority = priorities.priority AND queue.waits_for IS NULL
          AND queue.due <= :now)
    UNION ALL
    SELECT 1 FROM queue WHERE queue.waits_for = 'empty_worker' AND queue.due <= :now
    -- This very request may have been here before, and gets its claims again.
    UNION ALL
    SELECT 1 FROM claim_requests WHERE request_id = :request_id
) AS claimable
