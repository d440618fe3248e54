-- Priorities from high to low; within one, each lane from where this claimer was last, merged by due time.
-- The outer LIMIT stops the loop, so lower priorities are not even looked at once enough is found.
-- MATERIALIZED fences the planner: without it a nested loop may lock more rows than LIMIT.
WITH again AS MATERIALIZED (
    SELECT execution_id FROM leases WHERE request_id = :request_id
), picked AS MATERIALIZED (
    SELECT found.*
    FROM unnest(:priorities::smallint[]) AS level (priority)
    CROSS JOIN LATERAL (
        SELECT waiting.*
        FROM unnest(:scan.lane_id::integer[], :scan.priority::smallint[], :scan.due::timestamptz[],
                    :scan.execution_id::uuid[]) AS scan (lane_id, priority, due, execution_id)
        CROSS JOIN LATERAL (
            SELECT queue.* FROM queue
            WHERE queue.lane_id = scan.lane_id AND queue.priority = scan.priority AND queue.waits_for IS NULL
              AND queue.due <= :now AND (queue.due, queue.execution_id) > (scan.due, scan.execution_id)
            ORDER BY queue.due, queue.execution_id
            LIMIT :limit
            FOR UPDATE SKIP LOCKED
        ) AS waiting
        WHERE scan.priority = level.priority
        ORDER BY waiting.due, waiting.execution_id
        LIMIT :limit
    ) AS found
    WHERE NOT EXISTS (SELECT 1 FROM again)
    LIMIT :limit
), gone AS (
    DELETE FROM queue USING picked WHERE queue.execution_id = picked.execution_id
), leased AS (
    INSERT INTO leases (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time,
                        claim, attempts, crashes, worker, started_at, lease_until, request_id, request_row)
    SELECT execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time,
           claim + 1, attempts, crashes, :worker, :now, :lease_until, :request_id, row_number() OVER ()
    FROM picked
    RETURNING *
), mine AS (
    SELECT * FROM leased
    UNION ALL
    SELECT * FROM leases WHERE request_id = :request_id
)
SELECT mine.execution_id, mine.tenant_id, mine.job_id, mine.revision, mine.lane_id, mine.priority,
       mine.due, mine.nominal_time, mine.claim, mine.attempts, mine.crashes, mine.worker,
       mine.started_at, mine.lease_until, mine.cancel_requested, executions.input
FROM mine JOIN executions ON executions.id = mine.execution_id
