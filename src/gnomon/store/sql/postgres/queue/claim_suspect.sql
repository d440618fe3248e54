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
    INSERT INTO leases (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time,
                        claim, attempts, crashes, worker, started_at, lease_until, request_id, watched,
                        awaited, in_run)
    SELECT execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time,
           claim + 1, attempts, crashes, :worker, :now, :lease_until, :request_id, watched, awaited, in_run
    FROM picked
), told AS (
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, 'execution.started', :now, ARRAY[execution_id]
    FROM picked WHERE EXISTS (SELECT 1 FROM event_followers)
)
SELECT picked.execution_id, picked.job_id, picked.revision, picked.priority, picked.due,
       picked.nominal_time, picked.claim + 1 AS claim, picked.attempts, picked.crashes, executions.input
FROM picked JOIN executions ON executions.id = picked.execution_id
