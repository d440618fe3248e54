-- Of the executions whose worker died, the one that has waited longest, for a worker that holds nothing.
DELETE FROM picked;

INSERT INTO picked
SELECT execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, claim + 1, attempts, crashes,
       watched, awaited, in_run
FROM queue
WHERE waits_for = 'empty_worker' AND lane_id IN (SELECT value FROM json_each(:lane_ids)) AND due <= :now
ORDER BY due, execution_id
LIMIT 1;

-- As in claim.sql: fails if this very request has been here before.
INSERT INTO claim_requests (request_id, tenant_id, worker, claimed_at)
SELECT :request_id, tenant_id, :worker, :now FROM (
    SELECT tenant_id FROM picked
    UNION ALL
    SELECT tenant_id FROM claim_requests WHERE request_id = :request_id
    UNION ALL
    SELECT id FROM tenants WHERE id = :default_tenant AND :is_repeat
) AS some_row
LIMIT 1;

@lease(attempts, crashes, watched, awaited, in_run)
FROM picked;

@event('execution.started' AS type, json_array(hex(execution_id)) AS subjects)
FROM picked WHERE @is_followed;

DELETE FROM queue WHERE execution_id IN (SELECT execution_id FROM picked);

DELETE FROM suspect_reservations WHERE worker = :worker AND EXISTS (SELECT 1 FROM picked);

SELECT picked.execution_id, picked.job_id, picked.revision, picked.priority, picked.due,
       picked.nominal_time, picked.claim, picked.attempts, picked.crashes, executions.input
FROM picked JOIN executions ON executions.id = picked.execution_id
