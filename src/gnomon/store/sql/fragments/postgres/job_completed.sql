-- What dependent jobs wait for. In the order of ids, so that two batches cannot wait for each other.
INSERT INTO job_completions (job_id, tenant_id, completed_at)
SELECT DISTINCT job_id, tenant_id, :now::timestamptz FROM {ended}
WHERE awaited AND outcome = 'COMPLETED' ORDER BY job_id
ON CONFLICT (job_id) DO UPDATE
SET completed_at = greatest(job_completions.completed_at, excluded.completed_at)
