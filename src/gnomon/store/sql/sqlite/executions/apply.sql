-- Any change of a running execution. Tasks of workflows are changed in a transaction that knows their run before it
-- comes here. The fence is the first statement: only changes of the current claim stay; the others are the answer,
-- with the jobs of which something was watched.
DELETE FROM change WHERE NOT EXISTS (
    SELECT 1 FROM leases
    WHERE leases.execution_id = change.execution_id AND leases.claim = change.claim AND leases.in_run = :in_run
      AND (change.expired_at IS NULL OR leases.lease_until < change.expired_at))
RETURNING execution_id, claim, NULL AS job_id;

UPDATE change SET outcome = if_cancelled, due = NULL
WHERE if_cancelled IS NOT NULL
  AND execution_id IN (SELECT leases.execution_id FROM leases
                       WHERE leases.execution_id = change.execution_id AND leases.cancel_requested);

@changes_end;

INSERT INTO attempts (execution_id, claim, tenant_id, worker, outcome, failure_kind, failure_message,
                      started_at, finished_at)
SELECT change.execution_id, change.claim, tenant_id, worker, last_attempt, failure_kind, failure_message,
       started_at, :now
FROM change JOIN leases ON leases.execution_id = change.execution_id
WHERE change.due IS NOT NULL;

@waiting(change.execution_id AS execution_id, change.due AS due, nominal_time, change.claim AS claim,
         change.attempts AS attempts, coalesce(change.crashes, 0) AS crashes,
         CASE WHEN watched THEN change.waits_for ELSE change.waits_for_uncounted END AS waits_for,
         watched, awaited, in_run)
FROM change JOIN leases ON leases.execution_id = change.execution_id
WHERE change.due IS NOT NULL;

INSERT INTO dead_letters (execution_id, tenant_id, job_id, reason, failure_kind, failure_message,
                          attempts, died_at)
SELECT change.execution_id, tenant_id, job_id, dead, failure_kind, failure_message, change.attempts, :now
FROM change JOIN leases ON leases.execution_id = change.execution_id
WHERE change.dead IS NOT NULL;

@changes_leave
