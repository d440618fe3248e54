-- Of the executions whose worker died, the one that has waited longest, for a worker that holds nothing.
WITH picked AS MATERIALIZED (
    SELECT * FROM queue
    WHERE waits_for = 'empty_worker' AND lane_id = ANY (:lane_ids::integer[]) AND due <= :now
    ORDER BY due, execution_id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
), requested AS (
    -- As in claim.sql: fails if this very request has been here before.
    INSERT INTO claim_requests (request_id, tenant_id, worker, claimed_at)
    SELECT :request_id, tenant_id, :worker, :now FROM (
        SELECT tenant_id FROM picked
        UNION ALL
        SELECT tenant_id FROM claim_requests WHERE request_id = :request_id
        UNION ALL
        SELECT id FROM tenants WHERE id = :default_tenant AND :is_repeat
    ) AS some_row
    LIMIT 1
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
