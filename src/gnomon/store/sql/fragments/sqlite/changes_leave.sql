-- What else the batch `change` does to its jobs, and the last thing of all: the leases go.
-- From the index of what is watched, which is mostly empty, and then the change is not even looked at.
INSERT INTO job_completions (job_id, tenant_id, completed_at)
SELECT DISTINCT job_id, tenant_id, :now FROM leases INDEXED BY leases_watched
WHERE watched AND awaited
  AND execution_id IN (SELECT execution_id FROM change WHERE outcome = 'COMPLETED')
ON CONFLICT (job_id) DO UPDATE
SET completed_at = max(job_completions.completed_at, excluded.completed_at);

SELECT DISTINCT NULL AS execution_id, NULL AS claim, job_id FROM leases INDEXED BY leases_watched
WHERE watched AND execution_id IN (SELECT execution_id FROM change);

DELETE FROM unique_keys WHERE execution_id IN (SELECT execution_id FROM change WHERE due IS NULL);

DELETE FROM leases WHERE execution_id IN (SELECT execution_id FROM change)
