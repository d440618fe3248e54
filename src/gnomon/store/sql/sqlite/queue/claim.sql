-- SQLite has one writer, so choosing and taking cannot interleave with another claim.
DELETE FROM picked;

INSERT INTO picked
SELECT queue.execution_id, tenant_id, job_id, revision, queue.lane_id, queue.priority, queue.due,
       nominal_time, claim + 1, attempts, crashes, watched, awaited, in_run
FROM json_each(:lane_ids) AS lane CROSS JOIN json_each(:priorities) AS level CROSS JOIN queue
WHERE queue.execution_id IN (
    SELECT waiting.execution_id FROM queue AS waiting
    WHERE waiting.lane_id = lane.value AND waiting.priority = level.value AND waiting.waits_for IS NULL
      AND waiting.due <= :now
    ORDER BY waiting.due, waiting.execution_id
    LIMIT :limit)
ORDER BY queue.priority DESC, queue.due, queue.execution_id
LIMIT :limit;

-- Fails if this very request has been here before, also when nothing is left to pick: then its claims are
-- read, not made.
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

@event('execution.started' AS type)
FROM picked WHERE @is_followed GROUP BY tenant_id;

DELETE FROM queue WHERE execution_id IN (SELECT execution_id FROM picked);

SELECT picked.execution_id, picked.job_id, picked.revision, picked.priority, picked.due,
       picked.nominal_time, picked.claim, picked.attempts, picked.crashes, executions.input
FROM picked JOIN executions ON executions.id = picked.execution_id
ORDER BY picked.rowid
