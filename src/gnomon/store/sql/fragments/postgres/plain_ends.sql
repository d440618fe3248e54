-- Leases that the batch `change` ends without a failure, with what the ending shall say. The fence is the lock:
-- only the current claim finds its lease. From the changes to the leases, one by one: a subquery that locks stays
-- where it is. Left to the planner, a table that it believes empty comes first, and is read whole.
SELECT lease.*, coalesce(change.outcome, (:change.outcome::text[])[1]) AS outcome,
       coalesce(change.last_attempt, (:change.last_attempt::text[])[1]) AS last_attempt,
       coalesce(change.attempts, (:change.attempts::integer[])[1]) AS attempts, change.result
FROM unnest(
    :change.execution_id::uuid[], :change.claim::integer[], :change.outcome::text[],
    :change.last_attempt::text[], :change.attempts::integer[], :change.result::json[]
) AS change (execution_id, claim, outcome, last_attempt, attempts, result)
CROSS JOIN LATERAL (
    SELECT leases.execution_id, leases.claim, leases.tenant_id, leases.job_id, leases.watched, leases.awaited,
           leases.due, leases.worker, leases.started_at
    FROM leases
    WHERE leases.execution_id = change.execution_id AND leases.claim = change.claim AND {condition}
    FOR UPDATE
) AS lease
