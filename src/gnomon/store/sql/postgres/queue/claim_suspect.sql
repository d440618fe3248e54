-- Of the executions whose worker died, the one that has waited longest, for a worker that holds nothing.
WITH picked AS MATERIALIZED (
    SELECT * FROM queue
    WHERE waits_for = 'empty_worker' AND lane_id = ANY (:lane_ids::integer[]) AND due <= :now
    ORDER BY due, execution_id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
), requested AS (
    @request_once
), gone AS (
    -- By key: what waits at a gate may have been updated, and has moved then.
    DELETE FROM queue WHERE execution_id = ANY (ARRAY(SELECT picked.execution_id FROM picked))
), released AS (
    DELETE FROM suspect_reservations WHERE worker = :worker AND EXISTS (SELECT 1 FROM picked)
), leased AS (
    @lease(claim + 1 AS claim, attempts, crashes, watched, awaited, in_run)
    FROM picked
), told AS (
    @event('execution.started' AS type, ARRAY[execution_id] AS subjects)
    FROM picked WHERE @is_followed
)
SELECT picked.execution_id, picked.job_id, picked.revision, picked.priority, picked.due,
       picked.nominal_time, picked.claim + 1 AS claim, picked.attempts, picked.crashes, executions.input
FROM picked JOIN executions ON executions.id = picked.execution_id
