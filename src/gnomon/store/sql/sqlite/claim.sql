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
  AND NOT EXISTS (SELECT 1 FROM leases WHERE request_id = :request_id)
ORDER BY queue.priority DESC, queue.due, queue.execution_id
LIMIT :limit;

INSERT INTO leases (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time,
                    claim, attempts, crashes, worker, started_at, lease_until, request_id, request_row)
SELECT queue.execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time,
       claim + 1, attempts, crashes, :worker, :now, :lease_until, :request_id, picked.rowid
FROM picked JOIN queue ON queue.execution_id = picked.execution_id;

DELETE FROM queue WHERE execution_id IN (SELECT execution_id FROM picked);

SELECT leases.execution_id, leases.tenant_id, leases.job_id, leases.revision, leases.lane_id, leases.priority,
       leases.due, leases.nominal_time, leases.claim, leases.attempts, leases.crashes, leases.worker,
       leases.started_at, leases.lease_until, leases.cancel_requested, executions.input
FROM leases JOIN executions ON executions.id = leases.execution_id
WHERE leases.request_id = :request_id
