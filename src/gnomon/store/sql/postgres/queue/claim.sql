-- Priorities from high to low; within one, each lane from where this claimer was last, merged by due time.
-- The outer LIMIT stops the loop, so lower priorities are not even looked at once enough is found.
-- MATERIALIZED fences the planner: without it a nested loop may lock more rows than LIMIT.
WITH picked AS MATERIALIZED (
    SELECT found.*
    FROM unnest(:priorities::smallint[]) AS level (priority)
    CROSS JOIN LATERAL (
        SELECT waiting.*
        FROM unnest(:scan.lane_id::integer[], :scan.priority::smallint[], :scan.due::timestamptz[],
                    :scan.execution_id::uuid[]) AS scan (lane_id, priority, due, execution_id)
        CROSS JOIN LATERAL (
            SELECT queue.*, queue.ctid AS place FROM queue
            WHERE queue.lane_id = coalesce(scan.lane_id, (:scan.lane_id::integer[])[1])
              AND queue.priority = scan.priority AND queue.waits_for IS NULL
              AND queue.due <= :now
              AND (queue.due, queue.execution_id) > (coalesce(scan.due, '-infinity'), scan.execution_id)
            ORDER BY queue.due, queue.execution_id
            LIMIT :limit
            FOR UPDATE SKIP LOCKED
        ) AS waiting
        WHERE scan.priority = level.priority
        ORDER BY waiting.due, waiting.execution_id
        LIMIT :limit
    ) AS found
    LIMIT :limit
), requested AS (
    -- Fails if this very request has been here before, also when nothing is left to pick: then its claims
    -- are read, not made.
    INSERT INTO claim_requests (request_id, tenant_id, worker, claimed_at)
    SELECT :request_id, tenant_id, :worker, :now FROM (
        SELECT tenant_id FROM picked
        UNION ALL
        SELECT tenant_id FROM claim_requests WHERE request_id = :request_id
        UNION ALL
        -- Whose first try may not have committed yet waits for it at the key.
        SELECT id FROM tenants WHERE id = :default_tenant AND :is_repeat
    ) AS some_row
    LIMIT 1
), gone AS (
    -- By place: the rows are locked by this statement, so none of them can have moved.
    DELETE FROM queue WHERE ctid = ANY (ARRAY(SELECT place FROM picked))
), leased AS (
    @lease(claim + 1 AS claim, attempts, crashes, watched, awaited, in_run)
    FROM picked
), told AS (
    @event('execution.started' AS type)
    FROM picked WHERE @is_followed GROUP BY tenant_id
)
SELECT picked.execution_id, picked.job_id, picked.revision, picked.priority, picked.due,
       picked.nominal_time, picked.claim + 1 AS claim, picked.attempts, picked.crashes, executions.input
FROM picked JOIN executions ON executions.id = picked.execution_id
ORDER BY picked.priority DESC, picked.due, picked.execution_id
