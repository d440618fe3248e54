-- What apply.sql does with changes that end their execution and say nothing of failures, dead letters or
-- expiry: nearly all.
DELETE FROM change WHERE NOT EXISTS (
    SELECT 1 FROM leases
    WHERE leases.execution_id = change.execution_id AND leases.claim = change.claim AND leases.in_run = :in_run)
RETURNING execution_id, claim, NULL AS job_id;

@ending(change.execution_id AS execution_id, status AS outcome, attempt AS last_attempt, change.claim AS claim,
        change.attempts AS attempts, leases.due AS due, worker, started_at, result)
FROM change JOIN leases ON leases.execution_id = change.execution_id;

@event(@type_of_end(status AS outcome) AS type,
       json_group_array(hex(change.execution_id)) AS subjects)
FROM change JOIN leases ON leases.execution_id = change.execution_id
WHERE @is_followed GROUP BY tenant_id, status;

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
