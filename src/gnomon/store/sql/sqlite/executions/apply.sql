-- Tasks of workflows have an apply of their own, which knows their run before it comes here.
-- The fence is the first statement: only changes of the current claim stay; the others are the answer, with the
-- jobs of which something was watched.
DELETE FROM change WHERE NOT EXISTS (
    SELECT 1 FROM leases
    WHERE leases.execution_id = change.execution_id AND leases.claim = change.claim AND leases.in_run = :in_run
      AND (change.expired_at IS NULL OR leases.lease_until < change.expired_at))
RETURNING execution_id, claim, NULL AS job_id;

-- A cancel that was asked for in the meantime wins over going back to wait.
UPDATE change SET status = 'CANCELLED', due = NULL
WHERE due IS NOT NULL
  AND execution_id IN (SELECT leases.execution_id FROM leases
                       WHERE leases.execution_id = change.execution_id AND leases.cancel_requested);

@ending(change.execution_id AS execution_id, change.status AS outcome, attempt AS last_attempt,
        change.claim AS claim, change.attempts AS attempts, leases.due AS due, worker, started_at, result,
        failure_kind, failure_message)
FROM change JOIN leases ON leases.execution_id = change.execution_id
WHERE change.due IS NULL;

@event(@type_of_end(status AS outcome) AS type,
       json_group_array(hex(change.execution_id)) AS subjects)
FROM change JOIN leases ON leases.execution_id = change.execution_id
WHERE change.due IS NULL AND @is_followed GROUP BY tenant_id, status;

INSERT INTO attempts (execution_id, claim, tenant_id, worker, outcome, failure_kind, failure_message,
                      started_at, finished_at)
SELECT change.execution_id, change.claim, tenant_id, worker, attempt, failure_kind, failure_message,
       started_at, :now
FROM change JOIN leases ON leases.execution_id = change.execution_id
WHERE change.due IS NOT NULL;

-- What is not counted takes no slot, and goes on to the next gate.
@waiting(change.execution_id AS execution_id, change.due AS due, nominal_time, change.claim AS claim,
         change.attempts AS attempts, coalesce(change.crashes, 0) AS crashes,
         CASE WHEN watched OR change.waits_for IS NOT 'slot' THEN change.waits_for
              WHEN change.crashes > 0 THEN 'empty_worker' END AS waits_for,
         watched, awaited, in_run)
FROM change JOIN leases ON leases.execution_id = change.execution_id
WHERE change.due IS NOT NULL;

INSERT INTO dead_letters (execution_id, tenant_id, job_id, reason, failure_kind, failure_message,
                          attempts, died_at)
SELECT change.execution_id, tenant_id, job_id, dead, failure_kind, failure_message, change.attempts, :now
FROM change JOIN leases ON leases.execution_id = change.execution_id
WHERE change.dead IS NOT NULL;

-- From the index of what is watched, which is mostly empty, and then the change is not even looked at.
INSERT INTO job_completions (job_id, tenant_id, completed_at)
SELECT DISTINCT job_id, tenant_id, :now FROM leases INDEXED BY leases_watched
WHERE watched AND awaited
  AND execution_id IN (SELECT execution_id FROM change WHERE status = 'COMPLETED')
ON CONFLICT (job_id) DO UPDATE
SET completed_at = max(job_completions.completed_at, excluded.completed_at);

SELECT DISTINCT NULL AS execution_id, NULL AS claim, job_id FROM leases INDEXED BY leases_watched
WHERE watched AND execution_id IN (SELECT execution_id FROM change);

DELETE FROM unique_keys WHERE execution_id IN (SELECT execution_id FROM change WHERE due IS NULL);

DELETE FROM leases WHERE execution_id IN (SELECT execution_id FROM change)
