-- Any change of a running execution. The fence is the lock: only the current claim finds its lease, and all that
-- follows hangs on it. The answer is the claims that found none, and the jobs of which something was watched.
-- Tasks of workflows are changed in a transaction that holds the lock of their run before it comes here.
WITH change AS (
    SELECT given.execution_id, given.claim, coalesce(given.outcome, (:change.outcome::text[])[1]) AS outcome,
           coalesce(given.last_attempt, (:change.last_attempt::text[])[1]) AS last_attempt,
           coalesce(given.attempts, (:change.attempts::integer[])[1]) AS attempts, given.result,
           coalesce(given.crashes, 0) AS crashes, given.due, given.failure_kind, given.failure_message, given.dead,
           given.expired_at, given.waits_for, given.waits_for_uncounted, given.if_cancelled
    FROM unnest(
        :change.execution_id::uuid[], :change.claim::integer[], :change.outcome::text[],
        :change.last_attempt::text[], :change.attempts::integer[], :change.result::json[],
        :change.crashes::integer[], :change.due::timestamptz[], :change.failure_kind::text[],
        :change.failure_message::text[], :change.dead::text[], :change.expired_at::timestamptz[],
        :change.waits_for::text[], :change.waits_for_uncounted::text[], :change.if_cancelled::text[]
    ) AS given (execution_id, claim, outcome, last_attempt, attempts, result, crashes, due, failure_kind,
                failure_message, dead, expired_at, waits_for, waits_for_uncounted, if_cancelled)
), held AS MATERIALIZED (
    -- From the changes to the leases, one by one: see the fragment plain_ends.
    SELECT lease.execution_id, lease.claim, lease.tenant_id, lease.job_id, lease.revision,
           lease.lane_id, lease.priority, lease.nominal_time, lease.worker, lease.started_at,
           lease.due AS was_due, lease.watched, lease.awaited,
           CASE WHEN lease.cancel_requested THEN coalesce(change.if_cancelled, change.outcome)
                ELSE change.outcome END AS outcome,
           CASE WHEN NOT lease.cancel_requested OR change.if_cancelled IS NULL THEN change.due END AS due,
           CASE WHEN lease.watched THEN change.waits_for ELSE change.waits_for_uncounted END AS waits_for,
           change.last_attempt, change.attempts, change.crashes, change.result, change.failure_kind,
           change.failure_message, change.dead
    FROM change CROSS JOIN LATERAL (
        SELECT * FROM leases
        WHERE leases.execution_id = change.execution_id AND leases.claim = change.claim
          AND leases.in_run = :in_run
          AND (change.expired_at IS NULL OR leases.lease_until < change.expired_at)
        FOR UPDATE
    ) AS lease
), gone AS (
    @leases_gone(held AS ended)
), ended AS (
    @ending(last_attempt, was_due AS due, worker, started_at, result, failure_kind, failure_message)
    FROM held WHERE due IS NULL
), told AS (
    @event(@type_of_end AS type)
    FROM held WHERE due IS NULL AND @is_followed GROUP BY tenant_id, outcome
), tried AS (
    INSERT INTO attempts (execution_id, claim, tenant_id, worker, outcome, failure_kind, failure_message,
                          started_at, finished_at)
    SELECT execution_id, claim, tenant_id, worker, last_attempt, failure_kind, failure_message, started_at, :now
    FROM held WHERE due IS NOT NULL
), waiting AS (
    @waiting(nominal_time, claim, attempts, crashes, waits_for, watched, awaited, :in_run AS in_run)
    FROM held WHERE due IS NOT NULL
), buried AS (
    INSERT INTO dead_letters (execution_id, tenant_id, job_id, reason, failure_kind, failure_message,
                              attempts, died_at)
    SELECT execution_id, tenant_id, job_id, dead, failure_kind, failure_message, attempts, :now
    FROM held WHERE dead IS NOT NULL
), completed AS (
    @job_completed(held AS ended)
), freed AS (
    DELETE FROM unique_keys
    WHERE execution_id = ANY (ARRAY(SELECT held.execution_id FROM held WHERE held.due IS NULL))
)
@refused_and_watched
