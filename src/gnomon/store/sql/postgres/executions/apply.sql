-- The fence is the lock: only the current claim finds its lease. All that follows hangs on it.
-- The answer is the claims that found none, and the jobs of which something was watched.
-- Tasks of workflows have an apply of their own, which holds the lock of their run before it comes here.
-- A cancel that was asked for in the meantime wins over going back to wait.
WITH change AS (
    SELECT given.execution_id, given.claim, coalesce(given.status, (:change.status::text[])[1]) AS status,
           coalesce(given.attempt, (:change.attempt::text[])[1]) AS attempt,
           coalesce(given.attempts, (:change.attempts::integer[])[1]) AS attempts,
           coalesce(given.crashes, 0) AS crashes, given.due, given.result, given.failure_kind,
           given.failure_message, given.dead, given.expired_at, given.waits_for
    FROM unnest(
        :change.execution_id::uuid[], :change.claim::integer[], :change.status::text[],
        :change.attempt::text[], :change.attempts::integer[], :change.crashes::integer[],
        :change.due::timestamptz[], :change.result::json[], :change.failure_kind::text[],
        :change.failure_message::text[], :change.dead::text[], :change.expired_at::timestamptz[],
        :change.waits_for::text[]
    ) AS given (execution_id, claim, status, attempt, attempts, crashes, due, result, failure_kind,
                failure_message, dead, expired_at, waits_for)
), held AS MATERIALIZED (
    -- From the changes to the leases, one by one: a subquery that locks stays where it is. Left to the planner,
    -- a table that it believes empty comes first, and is read whole: all its dead rows, after a VACUUM.
    SELECT lease.execution_id, lease.claim, lease.tenant_id, lease.job_id, lease.revision,
           lease.lane_id, lease.priority, lease.nominal_time, lease.worker, lease.started_at,
           lease.due AS was_due, lease.watched, lease.awaited,
           CASE WHEN change.due IS NOT NULL AND lease.cancel_requested THEN 'CANCELLED'
                ELSE change.status END AS status,
           CASE WHEN NOT lease.cancel_requested THEN change.due END AS due,
           change.attempt, change.attempts, change.crashes, change.result, change.failure_kind,
           change.failure_message, change.dead, change.waits_for
    FROM change CROSS JOIN LATERAL (
        SELECT * FROM leases
        WHERE leases.execution_id = change.execution_id AND leases.claim = change.claim
          AND leases.in_run = :in_run
          AND (change.expired_at IS NULL OR leases.lease_until < change.expired_at)
        FOR UPDATE
    ) AS lease
), gone AS (
    -- By key, not by place: a renewal may have moved them since this statement began.
    DELETE FROM leases WHERE execution_id = ANY (ARRAY(SELECT held.execution_id FROM held))
), ended AS (
    @ending(status AS outcome, attempt AS last_attempt, was_due AS due, worker, started_at, result,
            failure_kind, failure_message)
    FROM held WHERE due IS NULL
), told AS (
    @event(@type_of_end(status AS outcome) AS type)
    FROM held WHERE due IS NULL AND @is_followed GROUP BY tenant_id, status
), tried AS (
    INSERT INTO attempts (execution_id, claim, tenant_id, worker, outcome, failure_kind, failure_message,
                          started_at, finished_at)
    SELECT execution_id, claim, tenant_id, worker, attempt, failure_kind, failure_message, started_at, :now
    FROM held WHERE due IS NOT NULL
), waiting AS (
    -- What is not counted takes no slot, and goes on to the next gate.
    @waiting(nominal_time, claim, attempts, crashes,
             CASE WHEN watched OR waits_for IS DISTINCT FROM 'slot' THEN waits_for
                  WHEN crashes > 0 THEN 'empty_worker' END AS waits_for,
             watched, awaited, :in_run AS in_run)
    FROM held WHERE due IS NOT NULL
), buried AS (
    INSERT INTO dead_letters (execution_id, tenant_id, job_id, reason, failure_kind, failure_message,
                              attempts, died_at)
    SELECT execution_id, tenant_id, job_id, dead, failure_kind, failure_message, attempts, :now
    FROM held WHERE dead IS NOT NULL
), succeeded AS (
    -- In the order of ids, so that two batches cannot wait for each other.
    INSERT INTO job_completions (job_id, tenant_id, completed_at)
    SELECT DISTINCT job_id, tenant_id, :now::timestamptz FROM held
    WHERE awaited AND status = 'COMPLETED' ORDER BY job_id
    ON CONFLICT (job_id) DO UPDATE
    SET completed_at = greatest(job_completions.completed_at, excluded.completed_at)
), freed AS (
    DELETE FROM unique_keys
    WHERE execution_id = ANY (ARRAY(SELECT held.execution_id FROM held WHERE held.due IS NULL))
)
SELECT execution_id, claim, NULL::uuid AS job_id
FROM unnest(:change.execution_id::uuid[], :change.claim::integer[]) AS asked (execution_id, claim)
WHERE (SELECT count(*) FROM held) < cardinality(:change.execution_id::uuid[])
  AND (execution_id, claim) NOT IN (SELECT execution_id, claim FROM held)
UNION ALL
SELECT DISTINCT NULL::uuid, NULL::integer, job_id FROM held WHERE watched
