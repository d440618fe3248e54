-- SQLite has one writer, so choosing and taking cannot interleave with another claim.
DELETE FROM picked;

INSERT INTO picked (execution_id)
SELECT queue.execution_id
FROM scan CROSS JOIN queue
WHERE queue.execution_id IN (
    SELECT waiting.execution_id FROM queue AS waiting
    WHERE waiting.lane_id = scan.lane_id AND waiting.priority = scan.priority AND waiting.waits_for IS NULL
      AND waiting.due <= :now
    ORDER BY waiting.due, waiting.execution_id
    LIMIT :limit)
ORDER BY queue.priority DESC, queue.due, queue.execution_id
LIMIT :limit;

-- Fails if this very request has been here before: then its claims are read, not made.
INSERT INTO claim_requests (request_id, tenant_id, worker, claimed_at)
SELECT :request_id, tenant_id, :worker, :now
FROM picked JOIN queue ON queue.execution_id = picked.execution_id
LIMIT 1;

INSERT INTO leases (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time,
                    claim, attempts, crashes, worker, started_at, lease_until, request_id)
SELECT queue.execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time,
       claim + 1, attempts, crashes, :worker, :now, :lease_until, :request_id
FROM picked JOIN queue ON queue.execution_id = picked.execution_id;

DELETE FROM queue WHERE execution_id IN (SELECT execution_id FROM picked);

SELECT leases.execution_id, leases.tenant_id, leases.job_id, leases.revision, leases.lane_id, leases.priority,
       leases.due, leases.nominal_time, leases.claim, leases.attempts, leases.crashes, leases.worker,
       leases.started_at, leases.lease_until, leases.cancel_requested, executions.input
FROM picked
JOIN leases ON leases.execution_id = picked.execution_id
JOIN executions ON executions.id = picked.execution_id
