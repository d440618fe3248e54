-- From the newest ones, and not from all there ever were: a job may have run a million times.
INSERT INTO job_completions (job_id, tenant_id, completed_at)
WITH newest AS MATERIALIZED (
    SELECT executions.id, executions.job_id, executions.tenant_id FROM executions
    WHERE executions.job_id = :job_id AND executions.id < :before
    ORDER BY executions.id DESC
    LIMIT :limit
)
SELECT newest.job_id, newest.tenant_id, max(endings.finished_at)
FROM newest JOIN endings ON endings.execution_id = newest.id
WHERE endings.outcome = 'COMPLETED'
GROUP BY newest.job_id, newest.tenant_id
ON CONFLICT (job_id) DO NOTHING
