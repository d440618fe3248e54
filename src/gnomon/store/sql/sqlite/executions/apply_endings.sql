-- What apply.sql does with changes that end their execution and say nothing of failures, dead letters or
-- expiry: nearly all.
DELETE FROM change WHERE NOT EXISTS (
    SELECT 1 FROM leases
    WHERE leases.execution_id = change.execution_id AND leases.claim = change.claim AND leases.in_run = :in_run)
RETURNING execution_id, claim, NULL AS job_id;

INSERT INTO endings (execution_id, tenant_id, outcome, last_attempt, claim, attempts, due, worker,
                     started_at, finished_at, result)
SELECT change.execution_id, tenant_id, status, attempt, change.claim, change.attempts, leases.due, worker,
       started_at, :now, result
FROM change JOIN leases ON leases.execution_id = change.execution_id;

INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, tenant_id,
       CASE status WHEN 'TIMEOUT' THEN 'execution.timed_out' ELSE 'execution.' || lower(status) END, :now,
       json_group_array(hex(change.execution_id))
FROM change JOIN leases ON leases.execution_id = change.execution_id
WHERE EXISTS (SELECT 1 FROM event_followers) GROUP BY tenant_id, status;

-- From the index of what is watched, which is mostly empty, and then the change is not even looked at.
INSERT INTO job_completions (job_id, tenant_id, completed_at)
SELECT DISTINCT job_id, tenant_id, :now FROM leases INDEXED BY leases_watched
WHERE watched AND awaited
  AND execution_id IN (SELECT execution_id FROM change WHERE status = 'COMPLETED')
ON CONFLICT (job_id) DO UPDATE
SET completed_at = max(job_completions.completed_at, excluded.completed_at);

SELECT DISTINCT NULL AS execution_id, NULL AS claim, job_id FROM leases INDEXED BY leases_watched
WHERE watched AND execution_id IN (SELECT execution_id FROM change);

DELETE FROM unique_keys WHERE execution_id IN (SELECT execution_id FROM change);

DELETE FROM leases WHERE execution_id IN (SELECT execution_id FROM change)
